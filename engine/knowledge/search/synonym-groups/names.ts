/** Names of products and their categories, and abbreviations. As in `developing.ts`. */
export const NAMES = `
slack teams discord mattermost telegram chat messenger channel kanal 聊天 チャット
jira linear trello asana ticket issue tracker
github gitlab bitbucket gitea forge hosting
aws amazon gcp google-cloud azure cloud provider hetzner wolke 云 クラウド
rds aurora cloudsql database
s3 minio gcs bucket object-storage blob
lambda serverless cloud-function functions faas
ec2 vm instance machine
stripe paypal adyen braintree klarna payment psp checkout
dhl dpd ups fedex hermes gls courier carrier shipping paketdienst paket versand 快递 宅配
okta keycloak auth0 cognito ldap active-directory identity sso
sentry bugsnag rollbar error-tracking error-reporting
datadog newrelic grafana monitoring observability
elk loki splunk kibana log-search logging
redis memcached valkey cache key-value
cache caching cached memoize invalidate stale zwischenspeicher 缓存 キャッシュ
mongodb mongo dynamodb cassandra document-database nosql database
sqlite file-database embedded-database
elasticsearch opensearch solr meilisearch typesense search-engine search
kafka nats rabbitmq sqs pulsar kinesis broker streaming messaging
react vue svelte angular solid frontend framework ui-library
redux zustand mobx pinia store state-management global-state state
tailwind sass scss less css stylesheet styling styles
vite webpack rollup esbuild parcel turbopack bundler bundle build-tool
jest vitest mocha jasmine test-runner testing
playwright cypress selenium puppeteer browser-test end-to-end e2e
express fastify koa nest hono flask django rails spring laravel web-framework
graphql apollo relay resolver schema
grpc protobuf rpc remote-procedure-call
rest http endpoint
electron tauri desktop desktop-app
android kotlin apk play-store mobile
ios swift xcode app-store testflight mobile iphone
flutter react-native expo mobile cross-platform
unity unreal godot game-engine engine
python cpython interpreter pypi
java jvm kotlin scala heap
rust cargo crate
ruby rails gem
php composer laravel
node nodejs npm javascript
javascript js typescript ts ecmascript
golang go
csharp c# dotnet .net nuget
cpp c++ cxx
docker podman containerd container
jenkins teamcity circleci travis github-actions gitlab-ci ci build-server
argocd flux gitops
ansible puppet chef salt provisioning
nginx apache caddy traefik haproxy web-server reverse-proxy
cloudflare fastly akamai cdn edge
letsencrypt acme certbot certificate
vault sops secrets-manager secret
sendgrid mailgun postmark ses smtp email mail
twilio sms text-message
salesforce hubspot crm customer-relationship
sap erp
figma sketch design mockup
datev accounting bookkeeping buchhaltung
openai anthropic claude gpt gemini llm language-model
tensorflow keras pytorch torch jax deep-learning
oracle mssql sqlserver database
clickhouse druid analytics olap
liquibase flyway alembic knex migration
prettier black gofmt rustfmt clang-format formatter
eslint ruff pylint flake8 golangci clippy linter
renovate dependabot dependency-update update-bot
sonarqube codeql semgrep static-analysis code-scanning
storybook component-library design-system
launchdarkly unleash feature-flag flag
pagerduty opsgenie on-call alerting
wasm webassembly
regex regexp re2 pcre
cfg conf config configuration
repo repository
env environment
db database
auth authentication authorization
authn authentication
authz authorization
k8s kubernetes
msg message
req request
res resp response
ctx context
fn func function
impl implementation implement
init initialize initialization
param params parameter argument
arg args argument
pkg package
dep deps dependency
dev development developer
prod production
perf performance
infra infrastructure
ops operations
spec specification test
doc docs documentation
tmp temp temporary
dir directory folder
src source
lib library
util utility helper
async asynchronous await promise
conn connection
addr address
ptr pointer
buf buffer
str string
cb callback
evt event
btn button
img image
nav navigation menu
pwd passwd pw password
acct account
amt amount
qty quantity
inv invoice inventory
mgmt management
admin administrator
sec second security
cert certificate
ver version
rev revision
ref reference
ext extension
num number
max maximum
min minimum
avg average mean
std standard
tz timezone
ts timestamp
pg postgres postgresql
tf terraform tensorflow
gh github
py python
o11y observability
fs filesystem
os operating-system
vm virtual-machine
mem memory
proc process
cmd command
exec execute
del delete
upd update
mig migration
stmt statement
tx txn transaction
idx index
col column
attr attribute
prop props property
elem element
comp component
cond condition
calc calculate calculation compute berechnen berechnung 计算 計算
info information
stats statistics
sched scheduler schedule
sync synchronize synchronization
usr user
org organization organisation company tenant
cust customer
prio priority vorrang prioritat 优先级 優先
`;
