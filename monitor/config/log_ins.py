"""The section on log-ins of docs/configuration.md: an example for each way to log in to Kafka."""

from __future__ import annotations

from typing import Final

LOG_INS: Final = '''
## Log-ins

The properties of `[clusters.NAME.client]` have the names of Kafka's Java client. `groupwatch run`, `collect`,
`check-config` and `doctor --client` take the same ones. Two clients use them: Java's in Spark, and kafka-python. A
log-in that only one of them knows is refused at the start, and by `check-config`.

| log-in | supported | what else it needs |
|---|---|---|
| SASL PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 | yes | |
| SASL OAUTHBEARER with client credentials (OIDC) | yes | tokens that are JWTs with `exp` and `sub` |
| SASL OAUTHBEARER with a token file | yes | a local `spark.master` for the job |
| client certificates (mTLS): PEM | yes | |
| client certificates (mTLS): PKCS12 | yes | the package `cryptography`: extra `job` or `stores` |
| client certificates (mTLS): JKS | yes | the same, and Java 17 or 21, also for `doctor` |
| SASL GSSAPI (Kerberos) with a keytab or a ticket cache | yes | the extra `kerberos`, which is built on the machine |
| AWS_MSK_IAM, or OAUTHBEARER with Amazon's handler | yes | the extra `iam`; not tried with AWS itself |
| SASL delegation tokens | no | |

The [image](deployment.md#compose) has these extras.

Kafka's Java client removes whitespace around a value, and kafka-python does not. groupwatch refuses such a value.
`ssl.endpoint.identification.algorithm` is exactly `https`, the default, or exactly empty. If it is empty, no client
compares the host name of a broker with its certificate; `check-config` warns of that. The same applies to the options
of `sasl.jaas.config` for a token endpoint.

**SASL PLAIN and SCRAM.** A line of `sasl.jaas.config` is also possible in place of name and password.

```toml
[clusters.prod.client]
"security.protocol" = "SASL_SSL"
"sasl.mechanism" = "SCRAM-SHA-512"                      # or PLAIN, SCRAM-SHA-256
"sasl.username" = "groupwatch"
"sasl.password" = "${file:/etc/groupwatch/password}"
"ssl.truststore.type" = "PEM"
"ssl.truststore.location" = "/etc/groupwatch/ca.pem"    # not set: the certificates of the machine
```

**SASL OAUTHBEARER with client credentials.** A token is renewed after four fifths of its life, without a gap. The
names are those of Kafka 4.1. The options `clientId`, `clientSecret`, `scope`, `extension_NAME` and `ssl.*` of
`sasl.jaas.config` work too. A client secret from a file can change while the job runs: groupwatch fetches each new
token with the secret that the file has then. With a Spark cluster, the executors keep the secret that their query was
started with. If the endpoint refuses that one, the query ends with its last token and starts again with the new secret;
`groupwatch_up` is 0 meanwhile.

```toml
[clusters.prod.client]
"security.protocol" = "SASL_SSL"
"sasl.mechanism" = "OAUTHBEARER"
"sasl.oauthbearer.token.endpoint.url" = "https://login.example.com/oauth2/token"
"sasl.oauthbearer.client.credentials.client.id" = "groupwatch"
"sasl.oauthbearer.client.credentials.client.secret" = "${file:/etc/groupwatch/client-secret}"
"sasl.oauthbearer.scope" = "kafka"                      # optional
# optional: the endpoint has a CA of its own
"sasl.jaas.config" = """org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required
ssl.truststore.type="PEM" ssl.truststore.location="/etc/groupwatch/login-ca.pem";"""
```

**SASL OAUTHBEARER with a token file**, which another program replaces before the token expires. Spark's Java client
reads such a file only once. The job therefore gives it the current content at a port of 127.0.0.1, with a secret that
is new at each start; tokens of an endpoint take the same way. Executors on other machines cannot reach that port, so
`spark.master` has to be local.

```toml
[clusters.prod.client]
"security.protocol" = "SASL_SSL"
"sasl.mechanism" = "OAUTHBEARER"
"sasl.oauthbearer.token.endpoint.url" = "file:///var/run/secrets/kafka/token"
```

**SASL GSSAPI (Kerberos) with a keytab.** kafka-python needs the package `gssapi`. On Debian, install it by
`apt-get install gcc python3-dev libkrb5-dev` and `pip install '.[kerberos]'`. Both clients get new tickets
from the keytab before the old ones expire, and keep them in memory. Both read the `krb5.conf` of the machine, or the
one that the variable `KRB5_CONFIG` names. With a cluster of Spark, each executor needs the keytab at the same path.

```toml
[clusters.prod.client]
"security.protocol" = "SASL_SSL"
"sasl.mechanism" = "GSSAPI"
"sasl.kerberos.service.name" = "kafka"
"sasl.jaas.config" = """com.sun.security.auth.module.Krb5LoginModule required useKeyTab=true storeKey=true
keyTab="/etc/groupwatch/groupwatch.keytab" principal="groupwatch@EXAMPLE.COM";"""
```

**SASL GSSAPI (Kerberos) with a ticket cache**, which another program renews. Without `ticketCache` it is the file that
the variable `KRB5CCNAME` names, or `/tmp/krb5cc_UID`. Java reads no other kind of cache. Java runs `kinit -R` before it
reads the file again, and never reads it again if that fails. `/bin/true` in its place leaves the renewal to the other
program.

```toml
[clusters.prod.client]
"security.protocol" = "SASL_SSL"
"sasl.mechanism" = "GSSAPI"
"sasl.kerberos.service.name" = "kafka"
"sasl.kerberos.kinit.cmd" = "/bin/true"
"sasl.jaas.config" = """com.sun.security.auth.module.Krb5LoginModule required useTicketCache=true
ticketCache="/run/groupwatch/tickets";"""
```

**AWS_MSK_IAM.** kafka-python needs Amazon's signer (`pip install '.[iam]'`). The job fetches Amazon's login
module for Java once (34 jars, 6 MB), unless `spark.jars` or `spark.jars.packages` names `aws-msk-iam-auth`. The keys
come from AWS's usual places: variables, profiles, the role of the machine. The region is in the names of the brokers,
or else in `AWS_REGION`. kafka-python sends the tokens by OAUTHBEARER, which Amazon's brokers accept as well. The tests
have no AWS: they check both clients' signatures, and none has logged in to a broker of Amazon.

```toml
[clusters.prod.client]
"security.protocol" = "SASL_SSL"
"sasl.mechanism" = "AWS_MSK_IAM"
"sasl.jaas.config" = "software.amazon.msk.auth.iam.IAMLoginModule required;"    # optional; awsProfileName, awsRoleArn
```

**Client certificates in PEM.** The file has the key and its certificates. Java reads only unencrypted keys in PKCS #8
(`BEGIN PRIVATE KEY`) reliably. The job gives it any other key decrypted, in memory, and needs `cryptography` for that.

```toml
[clusters.prod.client]
"security.protocol" = "SSL"
"ssl.keystore.type" = "PEM"
"ssl.keystore.location" = "/etc/groupwatch/client.pem"
"ssl.key.password" = "${file:/etc/groupwatch/key-password}"    # only for an encrypted key
"ssl.truststore.type" = "PEM"
"ssl.truststore.location" = "/etc/groupwatch/ca.pem"
```

The same in the properties themselves:

```toml
[clusters.prod.client]
"security.protocol" = "SSL"
"ssl.keystore.type" = "PEM"
"ssl.keystore.key" = "${file:/etc/groupwatch/client.key}"
"ssl.keystore.certificate.chain" = "${file:/etc/groupwatch/client.crt}"
"ssl.truststore.type" = "PEM"
"ssl.truststore.certificates" = "${file:/etc/groupwatch/ca.pem}"
```

**Client certificates in PKCS12 or JKS.** As in Java, the content of a file decides which of the two it is.

```toml
[clusters.prod.client]
"security.protocol" = "SSL"
"ssl.keystore.type" = "PKCS12"                          # or JKS, Java's default
"ssl.keystore.location" = "/etc/groupwatch/client.p12"
"ssl.keystore.password" = "${file:/etc/groupwatch/store-password}"
"ssl.truststore.type" = "PKCS12"
"ssl.truststore.location" = "/etc/groupwatch/ca.p12"
"ssl.truststore.password" = "${file:/etc/groupwatch/store-password}"
```
'''
