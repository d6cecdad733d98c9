{{- define "groupwatch.fullname" -}}
{{- $name := .Values.nameOverride | default "groupwatch" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" (.Release.Name | trunc (sub 51 (len $name) | int) | trimSuffix "-") $name -}}
{{- end -}}
{{- end -}}

{{- define "groupwatch.selector" -}}
app.kubernetes.io/name: groupwatch
app.kubernetes.io/instance: {{ .root.Release.Name | quote }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "groupwatch.commonLabels" -}}
app.kubernetes.io/name: groupwatch
app.kubernetes.io/instance: {{ .Release.Name | quote }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service | quote }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "groupwatch.labels" -}}
{{ include "groupwatch.commonLabels" .root }}
app.kubernetes.io/component: {{ .component }}
{{- end -}}

{{- define "groupwatch.serviceAccountName" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "groupwatch.fullname" .) -}}
{{- else -}}
{{- .Values.serviceAccount.name | default "default" -}}
{{- end -}}
{{- end -}}

{{- define "groupwatch.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}{{ .repository }}@{{ .digest }}{{- else -}}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{- end -}}
{{- end -}}
{{- end -}}

{{/* The labels of a pod: those by which it is selected, and more. */}}
{{- define "groupwatch.podLabels" -}}
{{- with merge (deepCopy .root.Values.podLabels) .root.Values.commonLabels }}
{{- toYaml . }}
{{ end -}}
{{ include "groupwatch.selector" . }}
{{- end -}}

{{/* The job's configuration: a text as it is, unless `clusters` or `settings` have something for it. */}}
{{- define "groupwatch.config" -}}
{{- $text := .Values.config | default (.Files.Get "files/groupwatch.toml") -}}
{{- if or .Values.clusters .Values.settings -}}
{{- $tables := fromToml $text -}}
{{- if .Values.clusters -}}{{- $_ := set $tables "clusters" .Values.clusters -}}{{- end -}}
{{- include "groupwatch.toml" (dict "table" (mergeOverwrite $tables (deepCopy .Values.settings)) "path" "") | trim }}
{{ else -}}
{{- $text -}}
{{- end -}}
{{- end -}}

{{/* A table as TOML, and the tables in it. Helm's own toToml makes 9464 a 9464.0. A text as JSON is a text as TOML. */}}
{{- define "groupwatch.toml" -}}
{{- $path := .path -}}
{{- $tables := dict -}}
{{- range $key, $value := .table -}}
{{- $key = include "groupwatch.tomlKey" $key -}}
{{- if or (kindIs "map" $value) (and (kindIs "slice" $value) (kindIs "map" (first $value))) -}}
{{- $_ := set $tables $key $value -}}
{{- else if not (kindIs "invalid" $value) }}
{{ $key }} = {{ toJson $value }}
{{- end -}}
{{- end -}}
{{- range $key, $value := $tables -}}
{{- $inner := printf "%s%s" $path $key -}}
{{- range kindIs "map" $value | ternary (list $value) $value }}

{{ kindIs "map" $value | ternary (printf "[%s]" $inner) (printf "[[%s]]" $inner) }}
{{- include "groupwatch.toml" (dict "table" . "path" (printf "%s." $inner)) -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "groupwatch.tomlKey" -}}
{{- regexMatch "^[A-Za-z0-9_-]+$" . | ternary . (toJson .) -}}
{{- end -}}

{{/* The address under which people open the page; empty: the configuration names none. */}}
{{- define "groupwatch.externalUrl" -}}
{{- dig "http" "external_url" "" (include "groupwatch.config" . | fromToml) -}}
{{- end -}}

{{/* The port that a configuration serves. */}}
{{- define "groupwatch.port" -}}
{{- $http := dig "http" dict (fromToml .) -}}
{{- get $http "port" | default 9464 | int -}}
{{- end -}}

{{/* What a probe does at a path, and when. */}}
{{- define "groupwatch.probe" -}}
{{- $scheme := .root.Values.probes.scheme -}}
{{- if eq $scheme "TCP" -}}
tcpSocket: {port: http}
{{- else if eq $scheme "HTTPS" -}}
httpGet: {path: {{ .path }}, port: http, scheme: HTTPS}
{{- else -}}
httpGet: {path: {{ .path }}, port: http}
{{- end }}
{{- with .times }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* What all pods have in common. */}}
{{- define "groupwatch.podSettings" -}}
serviceAccountName: {{ include "groupwatch.serviceAccountName" . }}
automountServiceAccountToken: false
enableServiceLinks: false # its variables are named GROUPWATCH_..., as groupwatch's own settings are
terminationGracePeriodSeconds: 60
securityContext:
  {{- toYaml .Values.podSecurityContext | nindent 2 }}
{{- $pullSecrets := .Values.imagePullSecrets }}
{{- range .Values.pullSecrets }}{{ $pullSecrets = append $pullSecrets (dict "name" .) }}{{ end }}
{{- with $pullSecrets }}
imagePullSecrets:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.initContainers }}
initContainers:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .Values.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end -}}

{{/* The image of a container, its folders of Secrets and whatever else the values mount, and their volumes. */}}
{{- define "groupwatch.container" -}}
image: {{ include "groupwatch.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  {{- toYaml .Values.securityContext | nindent 2 }}
{{- with .Values.envFrom }}
envFrom:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "groupwatch.mounts" -}}
{{- range .secrets }}
- {name: {{ .folder }}, mountPath: /etc/groupwatch/{{ .folder }}, readOnly: true}
{{- end }}
{{- with .root.Values.extraVolumeMounts }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "groupwatch.volumes" -}}
{{- range .secrets }}
- name: {{ .folder }}
  secret: {secretName: {{ .name }}, defaultMode: 0440}
{{- end }}
{{- with .root.Values.extraVolumes }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "groupwatch.claim" -}}
metadata:
  name: {{ .name }}
spec:
  accessModes: {{ toJson .claim.accessModes }}
  {{- with .claim.storageClassName }}
  storageClassName: {{ . }}
  {{- end }}
  resources:
    requests: {storage: {{ .claim.size }}}
{{- end -}}


{{/* Who may open the port of a configuration. */}}
{{- define "groupwatch.ingressRule" -}}
- from:
    {{- toYaml .from | nindent 4 }}
  ports:
    - {protocol: TCP, port: {{ include "groupwatch.port" .config }}}
{{- end -}}

{{/* Where a pod may connect to: names, the brokers, and more. */}}
{{- define "groupwatch.egressRules" -}}
- to:
    {{- toYaml .root.Values.networkPolicy.dns | nindent 4 }}
  ports:
    - {protocol: UDP, port: 53}
    - {protocol: TCP, port: 53}
{{- with .root.Values.networkPolicy.brokerPorts }}
- ports: # brokers, wherever they are
    {{- range . }}
    - {protocol: TCP, port: {{ . }}}
    {{- end }}
{{- end }}
{{- with .more }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{/* The name of the metrics' label of the cluster. */}}
{{- define "groupwatch.clusterLabel" -}}
{{- dig "metrics" "cluster_label" "cluster" (fromToml .) -}}
{{- end -}}

{{/* The shipped dashboards, with links to the page where people open it. */}}
{{- define "groupwatch.shippedDashboards" -}}
{{- $page := include "groupwatch.externalUrl" . | default "http://127.0.0.1:9464" -}}
{{- include "groupwatch.withClusterLabel" (dict "text" (.Files.Get "files/dashboards.yaml") "config" (include "groupwatch.config" .)) | replace "http://127.0.0.1:9464" (trimSuffix "/" $page) -}}
{{- end -}}

{{/* Rules or dashboards with that name: monitor/metrics/cluster_label.py has the same expression. */}}
{{- define "groupwatch.withClusterLabel" -}}
{{- $label := include "groupwatch.clusterLabel" .config -}}
{{- regexReplaceAll "([({,] ?|labels\\.|fields\\.|exported_)cluster\\b" .text (printf "${1}%s" $label) | replace "\"cluster\":" (printf "\"%s\":" $label) -}}
{{- end -}}
