import base64
import hashlib

from monitor.protocol.rocketmq.acl import Signer, signature


def hmac_sha1(key: bytes, data: bytes) -> str:
    """RFC 2104, by hand, for keys of at most 64 bytes."""
    key = key.ljust(64, b"\0")
    inner = hashlib.sha1(bytes(byte ^ 0x36 for byte in key) + data).digest()
    return base64.b64encode(hashlib.sha1(bytes(byte ^ 0x5C for byte in key) + inner).digest()).decode()


def test_the_signature_is_that_of_rocketmqs_own_test():
    """AclSignerTest.calSignatureTest."""
    assert signature(b"RocketMQ", "12345678") == "IUc8rrO/0gDch8CjObLQsW2rsiA="


def test_values_are_signed_in_the_order_of_their_names_with_the_access_key():
    """AclUtils.combineRequestContent: a TreeMap of the fields, so capitals come first: AccessKey, group, topic."""
    fields = {"topic": "T-1", "group": "G", "Signature": "an older one"}
    signed = Signer("user", "secret").sign(fields)
    assert signed == {
        "topic": "T-1",
        "group": "G",
        "AccessKey": "user",
        "Signature": hmac_sha1(b"secret", b"userGT-1"),
    }


def test_a_request_without_fields_is_signed_too():
    assert Signer("user", "secret").sign({})["Signature"] == hmac_sha1(b"secret", b"user")


def test_no_key_is_shown():
    assert repr(Signer("user", "secret")) == "Signer([hidden])"
