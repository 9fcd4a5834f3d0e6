{{- define "counterstep.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "counterstep.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/component: server
{{- end -}}

{{- define "counterstep.labels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "counterstep.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{/* The embedded store belongs to one process. */}}
{{- define "counterstep.replicas" -}}
{{- if .Values.store.url -}}{{ .Values.replicas }}{{- else -}}1{{- end -}}
{{- end -}}

{{- define "counterstep.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
# Secrets belong to root. The server reads them by its group.
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile: { type: RuntimeDefault }
{{- end -}}

{{- define "counterstep.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end -}}

{{/* Every setting of the server but those of the pod's own address. */}}
{{- define "counterstep.env" -}}
{{- $name := include "counterstep.name" . -}}
{{- $host := printf "%s.%s" $name .Release.Namespace -}}
{{- $hosts := concat (list $name $host (printf "%s.svc" $host) (printf "%s.svc.cluster.local" $host)) .Values.allowedHosts -}}
- name: COUNTERSTEP_ALLOWED_HOSTS
  value: {{ join "," $hosts | quote }}
- name: COUNTERSTEP_KEYS_FILE
  value: /run/counterstep/keys/keys.json
- name: COUNTERSTEP_DTM_PORT
  value: {{ ternary "36789" "off" .Values.dtm | quote }}
- name: COUNTERSTEP_DTM_GRPC_PORT
  value: {{ ternary "36790" "off" .Values.dtmGrpc | quote }}
{{- with .Values.services }}
{{- $named := list }}
{{- range $key, $origin := . }}
{{- $named = append $named (printf "%s=%s" $key $origin) }}
{{- end }}
- name: COUNTERSTEP_SERVICES
  value: {{ join "," $named | quote }}
{{- end }}
{{- with .Values.allowTargets }}
- name: COUNTERSTEP_ALLOW_TARGETS
  value: {{ join "," . | quote }}
{{- end }}
{{- if .Values.signingKeySecret }}
- name: COUNTERSTEP_SIGNING_KEY_FILE
  value: /run/counterstep/signing-key/signing-key.pem
{{- end }}
{{- with .Values.store.url }}
- name: COUNTERSTEP_STORE
  value: {{ . | quote }}
{{- end }}
{{- if .Values.store.passwordSecret }}
- name: COUNTERSTEP_STORE_PASSWORD_FILE
  value: /run/counterstep/store/password
{{- end }}
{{- if .Values.store.tlsCaConfigMap }}
- name: COUNTERSTEP_STORE_TLS_CA
  value: /run/counterstep/store-ca/ca.pem
{{- end }}
{{- range $key, $value := .Values.env }}
- name: {{ $key }}
  value: {{ $value | quote }}
{{- end }}
{{- end -}}
