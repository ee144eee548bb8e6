{{- define "svc.name" -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{- define "svc.selector" -}}
app.kubernetes.io/name: svc-gateway
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "svc.labels" -}}
{{ include "svc.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "svc.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- /* What the schema cannot say about two values. */ -}}
{{- define "svc.check" -}}
{{- $isSqlite := eq .Values.database "sqlite" -}}
{{- if not .Values.existingSecret -}}
{{- fail "existingSecret is empty. Create a Secret with the key \"secret\" (openssl rand -hex 32), and set existingSecret to its name." -}}
{{- end -}}
{{- if and $isSqlite (ne (int .Values.replicas) 1) -}}
{{- fail "replicas must be 1 with SQLite. Set database to postgresql for more pods." -}}
{{- end -}}
{{- if and $isSqlite .Values.autoscaling.enabled -}}
{{- fail "autoscaling needs PostgreSQL. Set database to postgresql." -}}
{{- end -}}
{{- if and $isSqlite (not .Values.persistence.enabled) -}}
{{- fail "persistence.enabled must be true with SQLite, because the volume holds the ledger." -}}
{{- end -}}
{{- range $name, $ingress := .Values.ingress -}}
{{- if and $ingress.enabled (not $ingress.host) -}}
{{- fail (printf "ingress.%s.host is empty. Set it to the name that clients use." $name) -}}
{{- end -}}
{{- end -}}
{{- range $name, $value := .Values.settings -}}
{{- if has $name (list "SVC_SECRET" "SVC_SECRET_FILE" "SVC_DATABASE_URL" "SVC_DATABASE_URL_FILE" "SVC_DATA_DIR" "SVC_CONFIG" "SVC_NODE" "SVC_DRAIN_S" "SVC_GRACE_S") -}}
{{- fail (printf "settings.%s is set by the chart. Use existingSecret, config or graceSeconds." $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
