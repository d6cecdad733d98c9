{{/*
What values.schema.json cannot see: a configuration that does not fit the other values. It would start, and the pod would
never become ready, or lose its state.
*/}}
{{- define "groupwatch.check" -}}
{{- $of := .of -}}
{{- $settings := fromToml .config -}}
{{- if hasKey $settings "Error" -}}
{{- fail (printf "%s is not valid TOML: %s" $of $settings.Error) -}}
{{- end -}}
{{- if not (get $settings "clusters") -}}
{{- fail (printf "%s has no table [clusters.NAME]." $of) -}}
{{- end -}}
{{- $bind := dig "http" "bind" "127.0.0.1" $settings -}}
{{- if or (hasPrefix "127." $bind) (has $bind (list "::1" "localhost")) -}}
{{- fail (printf "%s: the port accepts only connections from the pod itself, and no probe would succeed. Set bind = \"0.0.0.0\" in [http]." $of) -}}
{{- end -}}
{{- if not (dig "http" "port" 9464 $settings) -}}
{{- fail (printf "%s: port in [http] is 0, a port that nobody knows. Choose one." $of) -}}
{{- end -}}
{{- $folders := list -}}
{{- range .secrets -}}{{- $folders = append $folders .folder -}}{{- end -}}
{{- if ne (len $folders) (len (uniq $folders)) -}}
{{- fail (printf "%s: two Secrets have the same folder." .secretsOf) -}}
{{- end -}}
{{- $mounted := "" -}}
{{- range .mounts -}}{{- $mounted = printf "%s %s/" $mounted (trimSuffix "/" .mountPath) -}}{{- end -}}
{{- range regexFindAll "/etc/groupwatch/[^/\"}]+/?" (toJson $settings) -1 -}}
{{- $isOfSecret := and (hasSuffix "/" .) (has (base (trimSuffix "/" .)) $folders) -}}
{{- if not (or $isOfSecret (contains (printf " %s" .) $mounted)) -}}
{{- fail (printf "%s refers to %s, which no entry of %s provides." $of . $.secretsOf) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The brokers' ports, against the network policy: another one would look like a broker that is away. */}}
{{- define "groupwatch.checkBrokerPorts" -}}
{{- $isAny := false -}}
{{- $ranges := list -}}
{{- range .policy.brokerPorts -}}{{- $ranges = append $ranges (dict "port" .) -}}{{- end -}}
{{- range .more -}}
{{- if not (get . "ports") -}}{{- $isAny = true -}}{{- end -}}
{{- range (get . "ports" | default list) -}}
{{- if not (kindIs "float64" (get . "port")) -}}{{- $isAny = true -}}{{- else -}}{{- $ranges = append $ranges . -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- if and .policy.enabled (not $isAny) -}}
{{- range $name, $cluster := get (fromToml .config) "clusters" -}}
{{- range regexFindAll ":[0-9]+(,|$)" (get $cluster "bootstrap_servers" | default "") -1 -}}
{{- $port := trimPrefix ":" . | trimSuffix "," | int -}}
{{- $isOpen := false -}}
{{- range $ranges -}}
{{- if and (ge $port (int (get . "port"))) (le $port (int (get . "endPort" | default (get . "port")))) -}}{{- $isOpen = true -}}{{- end -}}
{{- end -}}
{{- if not $isOpen -}}
{{- fail (printf "%s: the network policy does not allow port %d of bootstrap_servers in [clusters.%s]. Add it to networkPolicy.brokerPorts." $.of $port $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "groupwatch.checkJob" -}}
{{- include "groupwatch.checkMaps" . -}}
{{- $config := include "groupwatch.config" . -}}
{{- include "groupwatch.check" (dict "of" "config" "config" $config "secrets" .Values.secrets "secretsOf" "secrets" "mounts" .Values.extraVolumeMounts) -}}
{{- include "groupwatch.checkBrokerPorts" (dict "of" "config" "config" $config "policy" .Values.networkPolicy "more" .Values.networkPolicy.egress) -}}
{{- $settings := fromToml $config -}}
{{- $state := .Values.persistence.checkpoint -}}
{{- $checkpoint := dig "spark" "checkpoint" "" $settings -}}
{{- if and $state.enabled (not (hasPrefix "/var/lib/groupwatch/" $checkpoint)) (not (contains "://" $checkpoint)) -}}
{{- fail "config: the checkpoint would not survive the pod. Set checkpoint in [spark] to a folder in /var/lib/groupwatch/." -}}
{{- end -}}
{{- if and (not $state.enabled) (not (contains "://" $checkpoint)) -}}
{{- fail "config: the checkpoint would not survive the pod. Set persistence.checkpoint.enabled, or checkpoint in [spark] to a file system such as s3a://." -}}
{{- end -}}
{{- $history := .Values.persistence.history -}}
{{- $folder := dig "history" "folder" "" $settings -}}
{{- $isHere := and $folder (not (contains "://" $folder)) -}}
{{- if and $history.enabled (ne $history.mountPath $folder) (not (hasPrefix (printf "%s/" $history.mountPath) $folder)) -}}
{{- fail (printf "config: persistence.history is mounted at %s. Set folder in [history] to it or to a folder in it." $history.mountPath) -}}
{{- end -}}
{{- if and $isHere (not $history.enabled) (not (hasPrefix "/var/lib/groupwatch/" $folder)) -}}
{{- fail "config: the recording would not survive the pod. Set persistence.history.enabled." -}}
{{- end -}}
{{- if and $folder (gt (int .Values.shards) 1) -}}
{{- fail "config: a job with a share of the groups cannot record. Remove folder in [history], or set shards to 1." -}}
{{- end -}}
{{- include "groupwatch.checkCores" . -}}
{{- include "groupwatch.checkRules" . -}}
{{- include "groupwatch.checkAddress" . -}}
{{- end -}}

{{/* A text that gets clusters and settings has to be one that can be parsed, and each cluster has one place. */}}
{{- define "groupwatch.checkMaps" -}}
{{- $given := fromToml .Values.config -}}
{{- if hasKey $given "Error" -}}
{{- fail (printf "config is not valid TOML: %s" $given.Error) -}}
{{- end -}}
{{- if and .Values.clusters (get $given "clusters") -}}
{{- fail "clusters: config has tables [clusters.NAME] as well. Move them from config to clusters." -}}
{{- end -}}
{{- end -}}

{{/* The address of the page is said once, in the configuration. */}}
{{- define "groupwatch.checkAddress" -}}
{{- if or .Values.ingress.enabled .Values.httpRoute.enabled -}}
{{- if not (include "groupwatch.externalUrl" .) -}}
{{- fail "ingress and httpRoute take their host and path from external_url in [http]. Set it in config or in settings." -}}
{{- end -}}
{{- if gt (int .Values.shards) 1 -}}
{{- fail "ingress and httpRoute need shards: 1, as the page of a shard has only the shard's own groups." -}}
{{- end -}}
{{- end -}}
{{- if and .Values.httpRoute.enabled (not .Values.httpRoute.parentRefs) -}}
{{- fail "httpRoute.enabled needs httpRoute.parentRefs, the Gateway of the route." -}}
{{- end -}}
{{- end -}}

{{/* Addresses of dashboards are inside of them. */}}
{{- define "groupwatch.checkDashboards" -}}
{{- $boards := .Values.monitoring.dashboards -}}
{{- if and $boards.enabled (not $boards.file) (get (include "groupwatch.config" . | fromToml) "dashboards") -}}
{{- fail "config: the chart cannot apply [dashboards]. Run `groupwatch dashboards --config groupwatch.toml --format configmap > boards.yaml`, and add --set-file monitoring.dashboards.file=boards.yaml." -}}
{{- end -}}
{{- if and $boards.file (not (contains "kind: ConfigMap" $boards.file)) -}}
{{- fail "monitoring.dashboards.file has no ConfigMaps. Give it the output of `groupwatch dashboards --format configmap`." -}}
{{- end -}}
{{- end -}}

{{/* Ages are inside of expressions, which only groupwatch itself can write. */}}
{{- define "groupwatch.checkRules" -}}
{{- $rules := .Values.monitoring.rules -}}
{{- if and $rules.enabled (not $rules.file) (get (include "groupwatch.config" . | fromToml) "alerts") -}}
{{- fail "config: the chart cannot apply [alerts]. Run `groupwatch rules --config groupwatch.toml > alerts.yml`, and add --set-file monitoring.rules.file=alerts.yml." -}}
{{- end -}}
{{- if and $rules.file (not (include "groupwatch.ownRules" $rules.file | fromJsonArray)) -}}
{{- fail "monitoring.rules.file has no rules. Give it the output of `groupwatch rules`." -}}
{{- end -}}
{{- if $rules.file -}}
{{- include "groupwatch.checkRuledClusters" . -}}
{{- end -}}
{{- end -}}

{{/* The groups of a rule file, or of a PrometheusRule, as JSON. */}}
{{- define "groupwatch.ownRules" -}}
{{- $given := fromYaml . -}}
{{- get $given "groups" | default (dig "spec" "groups" list $given) | toJson -}}
{{- end -}}

{{- define "groupwatch.checkCores" -}}
{{- $master := dig "spark" "master" "local[*]" (include "groupwatch.config" . | fromToml) -}}
{{- if eq $master "local[*]" -}}
{{- fail "config: master in [spark] is local[*], which counts the cores of the node. Set it to \"local[N]\", with N as resources.limits.cpu." -}}
{{- end -}}
{{- $limit := toString (dig "limits" "cpu" "" .Values.resources) -}}
{{- $cores := regexFind "^local\\[[0-9]+\\]$" $master | trimPrefix "local[" | trimSuffix "]" -}}
{{- if and $limit $cores -}}
{{- $allowed := ternary (divf (float64 (trimSuffix "m" $limit)) 1000) (float64 $limit) (hasSuffix "m" $limit) -}}
{{- if ne (ceil $allowed | int) (int $cores) -}}
{{- fail (printf "config: master in [spark] is %s, and resources.limits.cpu is %s. Keep them equal." $master $limit) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "groupwatch.checkCollectors" -}}
{{- with .Values.collectors -}}
{{- if not .config -}}
{{- fail "collectors.enabled needs collectors.config." -}}
{{- end -}}
{{- include "groupwatch.check" (dict "of" "collectors.config" "config" .config "secrets" .secrets "secretsOf" "collectors.secrets" "mounts" $.Values.extraVolumeMounts) -}}
{{- include "groupwatch.checkBrokerPorts" (dict "of" "collectors.config" "config" .config "policy" $.Values.networkPolicy "more" .egress) -}}
{{- end -}}
{{- end -}}

{{/* Of a cluster that has gone, a rule would fire for ever; of a new one, no rule would tell that it is missing. */}}
{{- define "groupwatch.checkRuledClusters" -}}
{{- $file := .Values.monitoring.rules.file -}}
{{- $ruled := list -}}
{{- range regexFindAll "absent\\(groupwatch_up\\{[a-z_]+=\\\\?\"[^\"\\\\]+" $file -1 -}}
{{- $ruled = append $ruled (regexReplaceAll ".*\"" . "") -}}
{{- end -}}
{{- $watched := list -}}
{{- range $table := list "clusters" "rocketmq" "zookeeper" -}}
{{- $watched = concat $watched (get (include "groupwatch.config" $ | fromToml) $table | default dict | keys) -}}
{{- end -}}
{{- /* Names with characters that a rule escapes are not compared. */ -}}
{{- $isPlain := regexMatch "^[A-Za-z0-9 ,._-]*$" (join ", " $watched) -}}
{{- if and $ruled $isPlain (ne (sortAlpha $ruled | uniq | join ", ") (sortAlpha $watched | uniq | join ", ")) -}}
{{- fail (printf "monitoring.rules.file is of other clusters (%s) than the configuration (%s). Write it again by `groupwatch rules`." (sortAlpha $ruled | uniq | join ", ") (sortAlpha $watched | uniq | join ", ")) -}}
{{- end -}}
{{- end -}}
