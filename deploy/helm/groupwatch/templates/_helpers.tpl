{{- define "groupwatch.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride -}}
{{- else if contains "groupwatch" .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-groupwatch" (.Release.Name | trunc 41 | trimSuffix "-") -}}
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

{{/* The port that a configuration serves. */}}
{{- define "groupwatch.port" -}}
{{- $http := dig "http" dict (fromToml .) -}}
{{- get $http "port" | default 9464 | int -}}
{{- end -}}

{{/* What a probe does at a path. */}}
{{- define "groupwatch.probe" -}}
{{- $scheme := .root.Values.probes.scheme -}}
{{- if eq $scheme "TCP" -}}
tcpSocket: {port: http}
{{- else if eq $scheme "HTTPS" -}}
httpGet: {path: {{ .path }}, port: http, scheme: HTTPS}
{{- else -}}
httpGet: {path: {{ .path }}, port: http}
{{- end -}}
{{- end -}}

{{/* What both pods have in common. */}}
{{- define "groupwatch.podSettings" -}}
serviceAccountName: {{ include "groupwatch.serviceAccountName" . }}
automountServiceAccountToken: false
enableServiceLinks: false # its variables are named GROUPWATCH_..., as groupwatch's own settings are
terminationGracePeriodSeconds: 60
securityContext:
  {{- toYaml .Values.podSecurityContext | nindent 2 }}
{{- with .Values.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
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

{{/* The folders of Secrets in a container, and their volumes. */}}
{{- define "groupwatch.secretMounts" -}}
{{- range $number, $_ := . }}
{{- if $number }}
{{ end -}}
- {name: {{ .folder }}, mountPath: /etc/groupwatch/{{ .folder }}, readOnly: true}
{{- end }}
{{- end -}}

{{- define "groupwatch.secretVolumes" -}}
{{- range . }}
- name: {{ .folder }}
  secret: {secretName: {{ .name }}, defaultMode: 0440}
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
    {{- toYaml .root.Values.networkPolicy.from | nindent 4 }}
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

{{/* Rules or dashboards with that name: monitor/metrics/cluster_label.py has the same expression. */}}
{{- define "groupwatch.withClusterLabel" -}}
{{- $label := include "groupwatch.clusterLabel" .config -}}
{{- regexReplaceAll "([({,] ?|labels\\.|fields\\.|exported_)cluster\\b" .text (printf "${1}%s" $label) | replace "\"cluster\":" (printf "\"%s\":" $label) -}}
{{- end -}}
