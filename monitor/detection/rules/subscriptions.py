"""Members that subscribe to topics that do not exist, so that they read less than they should, or nothing.

Rule 1: A subscribed topic is missing if the newest poll, begun after the generation, does not list it, and no member
owns a partition of it. Where one does, the topic is only hidden from groupwatch, unless its committed offsets were
deleted under the group: the brokers do that with the topic, and with nothing else to which a member subscribes.
Rule 2: In a KIP-848 group, nothing is known of topics while members own or are to own some that no poll lists.
Rule 3: An expression of a KIP-848 member is resolved by its broker. It counts if no topic fits it, but it matches a
part of a topic's name: then it worked with another library. Otherwise the topics may be meant to come later.
Rule 4: Nothing counts before ``commit_silence_ms`` after the generation: clients and brokers may create the topics.
Of a deleted topic the time runs from its deletion, and goes on when its members notice and rebalance.
Rule 5: Only for consumers that choose their topics: not for Kafka Streams, Connect and its sinks, and share groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from monitor.detection.ownership.catalog_view import is_older_than_generation
from monitor.detection.ownership.context import Facts
from monitor.detection.ownership.near_topics import missing_topics, near_topics, partly_matched, unresolved_regexes
from monitor.detection.rules.rule import Rule
from monitor.findings.observation import Observation
from monitor.findings.subscriptions import AbsentTopic, MissingTopics, NothingToRead, UnfitRegex
from monitor.model import FindingKind, Member, Phase


def find_missing_topics(facts: Facts) -> Iterable[Observation]:
    """Members all of whose topics are missing, and topics that others lack."""
    missing, unresolved = missing_topics(facts.ownership.subscribed, facts.catalog), unresolved_regexes(facts.group)
    if not (missing or unresolved) or not _is_judged(facts):
        return
    absent = {each.topic: each for each in _absent_topics(facts, missing) if _has_lasted(facts, each.deleted_ms)}
    unfit = {each.regex: each for each in _unfit_regexes(facts, unresolved) if _has_lasted(facts, None)}
    if not (absent or unfit) or is_older_than_generation(facts.catalog, facts.group):
        return
    idle = [member for member in facts.group.members if _has_nothing(member, absent.keys(), unfit.keys())]
    if idle:
        yield _nothing_to_read(facts, idle, absent, unfit)
    others = [member for member in facts.group.members if member not in idle and absent.keys() & set(member.topics)]
    if others:
        lacking = {topic for member in others for topic in member.topics} & absent.keys()
        yield Observation(
            kind=FindingKind.SUBSCRIPTION,
            reason="missing_topics",
            since_ms=_since_ms(facts, [absent[topic] for topic in lacking]),
            evidence=MissingTopics(tuple([absent[topic] for topic in sorted(lacking)])),
            members=_ids(others),
        )


def _nothing_to_read(
    facts: Facts, idle: Sequence[Member], absent: dict[str, AbsentTopic], unfit: dict[str, UnfitRegex]
) -> Observation:
    topics = [absent[topic] for topic in sorted({topic for member in idle for topic in member.topics})]
    regexes = [unfit[regex] for regex in sorted({member.regex for member in idle if member.regex})]
    return Observation(
        kind=FindingKind.SUBSCRIPTION,
        reason="nothing_to_read",
        since_ms=_since_ms(facts, topics),
        evidence=NothingToRead(tuple(topics), tuple(regexes)),
        members=_ids(idle),
    )


def _is_judged(facts: Facts) -> bool:
    traits = facts.traits
    return (
        facts.group.phase is Phase.STABLE
        and facts.ownership.complete
        and traits.commits_to_log
        and traits.has_kafka_clients
        and not traits.reads_by_task
        and not traits.runs_connectors
        and facts.sink is None
        and not _has_hidden_topics(facts)
    )


def _has_hidden_topics(facts: Facts) -> bool:
    """Whether members of a KIP-848 group own topics, or are to own some, of which no poll has the id."""
    known = facts.catalog.names
    standings = [member.reconciliation for member in facts.group.members if member.reconciliation is not None]
    return any(
        entry.id not in known for each in standings for entry in (*each.assigned, *each.revoking, *(each.target or ()))
    )


def _absent_topics(facts: Facts, missing: Iterable[str]) -> Iterable[AbsentTopic]:
    owned = {place.topic for place in facts.ownership.owners}
    deleted = {each.topic: each.deleted_ms for each in facts.group.deleted_offsets}
    committed = {place.topic for place in facts.committed}
    for topic in missing:
        deleted_ms = None if topic in committed else deleted.get(topic)
        if topic not in owned or deleted_ms:
            yield AbsentTopic(topic, near_topics(topic, facts.catalog.topics), deleted_ms or None)


def _unfit_regexes(facts: Facts, unresolved: Iterable[str]) -> Iterable[UnfitRegex]:
    for regex in unresolved:
        topics = partly_matched(regex, facts.catalog.topics)
        if topics:
            yield UnfitRegex(regex, topics)


def _has_nothing(member: Member, absent: Iterable[str], unfit: Iterable[str]) -> bool:
    if member.regex is not None and member.regex not in unfit:
        return False
    return bool(member.topics or member.regex) and set(member.topics) <= set(absent)


def _begun_ms(facts: Facts) -> int:
    return max(facts.group.generation_ms, facts.group.phase_ms)


def _has_lasted(facts: Facts, deleted_ms: int | None) -> bool:
    return facts.has_passed((deleted_ms or _begun_ms(facts)) + facts.settings.commit_silence_ms)


def _since_ms(facts: Facts, topics: Iterable[AbsentTopic]) -> int:
    """The deletion of the first of the topics, if it is known; else the generation."""
    deleted = [each.deleted_ms for each in topics if each.deleted_ms is not None]
    return facts.not_later_than_now(min(deleted, default=_begun_ms(facts)))


def _ids(members: Iterable[Member]) -> tuple[str, ...]:
    return tuple(sorted(member.member_id for member in members))


RULES: Final = (Rule(find_missing_topics, of_owners=False),)
