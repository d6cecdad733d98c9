"""What a store holds is read, and why one cannot be is one sentence without its secrets."""

from __future__ import annotations

import shutil
import ssl
from pathlib import Path

import pytest

from monitor.collectors.kafka_client.client_properties import kafka_python_arguments, spark_options
from monitor.collectors.kafka_client.stores import StoreError, read_store
from monitor.config import ClusterSettings, ConfigError
from tests.support.stores import KEY_PASSWORD, SECRETS, STORE_PASSWORD, Stores
from tests.web.http.certificates import Authority


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Stores:
    folder = tmp_path_factory.mktemp("stores")
    return Stores(folder, Authority(folder), "watcher")


@pytest.fixture(scope="module")
def jks(stores: Stores) -> dict[str, str]:
    """The key has another password than the store."""
    return stores.java("JKS")


def context_of(properties: dict[str, str]) -> ssl.SSLContext:
    cluster = ClusterSettings(name="prod", bootstrap_servers="b:1", client={"security.protocol": "SSL", **properties})
    context = kafka_python_arguments(cluster)["ssl_context"]
    assert isinstance(context, ssl.SSLContext)
    return context


def refusal(properties: dict[str, str]) -> str:
    with pytest.raises(ConfigError) as caught:
        context_of(properties)
    (sentence,) = caught.value.problems
    assert not any(secret in sentence for secret in SECRETS)
    return sentence.removeprefix("clusters.prod.client.")


def der(file: Path) -> bytes:
    return ssl.PEM_cert_to_DER_cert(file.read_text())


def test_a_jks_file_gives_its_key_and_its_trusted_certificate(stores: Stores, jks: dict[str, str]):
    store = read_store(jks["ssl.keystore.location"], STORE_PASSWORD, KEY_PASSWORD)
    assert ssl.PEM_cert_to_DER_cert(store.certificate) == der(stores.certificate)
    assert store.key.startswith("-----BEGIN ENCRYPTED PRIVATE KEY-----")
    trusted = context_of({key: value for key, value in jks.items() if "truststore" in key})
    assert trusted.get_ca_certs(binary_form=True) == [der(stores.authority_file)]


def test_the_content_decides_and_not_the_type(jks: dict[str, str], stores: Stores):
    """Java's readers of JKS and of PKCS12 take each other's files."""
    assert context_of(jks | {"ssl.keystore.type": "PKCS12", "ssl.truststore.type": "PKCS12"})
    assert context_of(stores.pkcs12() | {"ssl.keystore.type": "JKS", "ssl.truststore.type": "JKS"})


def test_a_file_is_read_again_only_after_it_has_changed(stores: Stores, jks: dict[str, str], tmp_path: Path):
    copy = tmp_path / "store"
    shutil.copy(stores.pkcs12()["ssl.keystore.location"], copy)
    first = read_store(str(copy), STORE_PASSWORD)
    assert read_store(str(copy), STORE_PASSWORD) is first
    shutil.copy(jks["ssl.keystore.location"], copy)
    second = read_store(str(copy), STORE_PASSWORD, KEY_PASSWORD)
    assert second is not first
    assert second.certificate == first.certificate


@pytest.mark.parametrize("kind", ["PKCS12", "JKS"])
def test_a_wrong_password_is_one_sentence(stores: Stores, jks: dict[str, str], kind: str):
    properties = jks if kind == "JKS" else stores.pkcs12()
    told = {
        "PKCS12": "ssl.keystore.location is not a usable PKCS12 or JKS file, or its password is wrong.",
        "JKS": "ssl.keystore.location is a JKS file that cannot be used (a password is wrong).",
    }[kind]
    assert refusal(properties | {"ssl.keystore.password": f"{STORE_PASSWORD}-not"}) == told


def test_a_wrong_password_of_the_key_alone_is_one_sentence(jks: dict[str, str]):
    told = "ssl.keystore.location is a JKS file that cannot be used (a password is wrong)."
    assert refusal(jks | {"ssl.key.password": f"{KEY_PASSWORD}-not"}) == told


def test_a_store_without_a_key_and_a_file_that_is_none(stores: Stores, tmp_path: Path):
    trusted = stores.pkcs12()["ssl.truststore.location"]
    assert refusal(stores.pkcs12() | {"ssl.keystore.location": trusted}) == (
        "ssl.keystore.location has no private key."
    )
    broken = tmp_path / "broken.p12"
    broken.write_bytes(b"no store")
    assert refusal(stores.pkcs12() | {"ssl.keystore.location": str(broken)}) == (
        "ssl.keystore.location is not a usable PKCS12 or JKS file, or its password is wrong."
    )


def test_a_jks_file_without_java_is_one_sentence(jks: dict[str, str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    copy = tmp_path / "store.jks"
    shutil.copy(jks["ssl.keystore.location"], copy)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(StoreError, match=r"^is a JKS file, which needs Java: install it, or convert"):
        read_store(str(copy), STORE_PASSWORD, KEY_PASSWORD)


def test_a_store_prints_nothing_that_it_holds(stores: Stores):
    store = read_store(stores.pkcs12()["ssl.keystore.location"], STORE_PASSWORD)
    assert repr(store) == "Store(key=yes, others=0)"
    assert str(store) == repr(store)


def test_java_gets_a_pem_key_that_it_cannot_read_decrypted_and_in_pkcs8(stores: Stores):
    cluster = ClusterSettings(name="prod", bootstrap_servers="b:1", client={"security.protocol": "SSL", **stores.pem()})
    options = spark_options(cluster)
    assert options["kafka.ssl.keystore.key"].split() == stores.key.read_text().split(), "openssl wrote it in PKCS #8"
    chain = options["kafka.ssl.keystore.certificate.chain"]
    assert ssl.PEM_cert_to_DER_cert(chain) == der(stores.certificate)
    assert not {"kafka.ssl.keystore.location", "kafka.ssl.key.password"} & options.keys()


def test_java_gets_a_pem_key_that_it_can_read_as_it_is(stores: Stores):
    cluster = ClusterSettings(
        name="prod", bootstrap_servers="b:1", client={"security.protocol": "SSL", **stores.inline()}
    )
    assert spark_options(cluster)["kafka.ssl.keystore.key"] == stores.key.read_text()


def test_a_trust_store_in_jks_needs_no_password(stores: Stores, jks: dict[str, str]):
    """Java checks nothing then, and reads the certificates."""
    trusted = context_of(trust_of(jks))
    assert trusted.get_ca_certs(binary_form=True) == [der(stores.authority_file)]


def trust_of(properties: dict[str, str]) -> dict[str, str]:
    """The trust store of these properties, without its password."""
    return {key: properties[key] for key in ("ssl.truststore.type", "ssl.truststore.location")}


def test_a_password_of_the_key_that_java_could_not_use_is_refused(stores: Stores):
    assert context_of(stores.pkcs12() | {"ssl.key.password": STORE_PASSWORD})
    assert refusal(stores.pkcs12() | {"ssl.key.password": "short-lynx"}) == (
        "ssl.keystore.location is a PKCS12 file, whose key has the password of the store; remove ssl.key.password."
    )


def test_a_key_of_jks_with_a_password_of_its_own_that_is_not_given(jks: dict[str, str]):
    told = refusal({key: value for key, value in jks.items() if key != "ssl.key.password"})
    assert told == (
        "ssl.keystore.location is a JKS file that cannot be used"
        " (keytool cannot read it; set ssl.key.password if the key has one of its own)."
    )


def test_why_pem_cannot_be_used_is_one_sentence(stores: Stores, tmp_path: Path):
    other = Stores(tmp_path, Authority(tmp_path), "other")
    pem, inline = stores.pem(), stores.inline()
    file, empty = Path(pem["ssl.keystore.location"]), tmp_path / "empty"
    empty.write_text("")
    (tmp_path / "der").write_bytes(der(stores.authority_file))
    told = {
        refusal(pem | {"ssl.keystore.location": str(stores.certificate)}): "location has no private key in PEM.",
        refusal(pem | {"ssl.keystore.location": str(stores.key)}): "location has no certificate in PEM.",
        refusal(inline | {"ssl.keystore.key": other.key.read_text()}): "key has a certificate of another key.",
        refusal(pem | {"ssl.key.password": "short-lynx"}): (
            "location is not usable PEM, or ssl.key.password does not decrypt it."
        ),
        refusal(stores.pkcs12() | {"ssl.keystore.location": str(file)}): (
            "location is a PEM file; set the type of the store to PEM."
        ),
    }
    assert {sentence: f"ssl.keystore.{rest}" for sentence, rest in told.items()} == {each: each for each in told}
    for trusted in (empty, tmp_path / "der"):
        assert refusal(pem | {"ssl.truststore.location": str(trusted)}) == (
            "ssl.truststore.location has no usable certificate in PEM."
        )
    assert refusal(inline | {"ssl.truststore.certificates": ""}) == (
        "ssl.truststore.certificates has no usable certificate in PEM."
    )
    assert refusal(pem | {"ssl.key.password": "x" * 1025}).startswith("ssl.keystore.location cannot be used (")


def test_certificates_in_the_properties_may_have_comments_in_any_script(stores: Stores):
    trusted = stores.inline()["ssl.truststore.certificates"]
    context = context_of(stores.inline() | {"ssl.truststore.certificates": f"friendlyName: größe\n{trusted}"})
    assert context.get_ca_certs(binary_form=True) == [der(stores.authority_file)]
