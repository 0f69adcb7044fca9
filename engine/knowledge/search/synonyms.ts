/** Words of the field that people use for one another; each line is one meaning. Compared by their stems. */
const GROUPS = `
auth authentication authenticate login signin credentials anmeldung
authorization permission permissions access rights berechtigung
bug defect issue fault fehler
error failure failed exception fehler
crash abort die segfault panic absturz
hang stuck freeze block deadlock
config configuration settings options preferences konfiguration einstellung
db database datenbank
env environment umgebung
repo repository
dep dependency dependencies package packages abhangigkeit
dir directory folder verzeichnis ordner
delete remove drop erase purge loschen entfernen
create add make generate erstellen anlegen
change modify edit update alter andern
rename move
run execute launch start invoke starten
stop halt terminate kill shutdown beenden
restart reboot relaunch neustart
build compile bauen
deploy deployment release ship rollout publish
undo revert rollback
test tests spec specs
flaky intermittent unstable unreliable
slow performance latency speed sluggish langsam
fast quick speed schnell
time clock date timestamp
timezone utc
timeout deadline expire
retry reattempt repeat wiederholen
limit cap maximum quota bound
memory ram heap
leak grow growth
queue backlog
message notification event
log logs logging logger
secret secrets token key password credential passwort
encrypt encryption cipher verschlusselung
doc docs documentation readme
choose chose decide decision pick prefer entscheidung
forbid forbidden prohibit never disallow ban verboten
must required mandatory always
money currency price amount cents geld
user customer account client benutzer kunde
picture image photo
upload import ingest
download export fetch
parse parser decode
serialize encode marshal
sort order ordering
duplicate duplicates copy dedupe
format formatter formatting style
lint linter linting
branch branches zweig
commit commits checkin
schema migration migrations ddl
table relation tabelle
cache caching memoize zwischenspeicher
server backend host
ui frontend interface dashboard gui
endpoint route url api
request call anfrage
response reply answer antwort
parallel concurrent concurrency simultaneous
race conflict collision
lock mutex locking sperre
schedule cron timer periodic job
backup snapshot dump sicherung
test fixture fixtures
number id identifier identifiers
version release
mail email
pay payment billing invoice charge zahlung rechnung
ci pipeline workflow
container docker image
proxy gateway
big large huge size length long small short groesse grosse lange
pr pullrequest review merge
orm sql queries mapper
indent indentation tabs spaces whitespace
jitter backoff retry stampede herd
wipe wiped rebuild reset clear
publish release
manager npm yarn pnpm
deprecated legacy obsolete old
image docker picture
percentage rate tax vat steuer mehrwertsteuer mwst
ログイン 認証 パスワード
设置 配置
错误 失败 异常
删除 移除
数据库 资料库
tls ssl https certificate zertifikat
`;

let bySpelling: Map<string, readonly string[]> | undefined;

/** Other words for this one, itself left out. */
export function listSynonyms(word: string, stem: (word: string) => string): readonly string[] {
  if (bySpelling === undefined) {
    bySpelling = new Map();
    for (const line of GROUPS.split('\n').filter(Boolean)) {
      const words = line.split(' ');
      for (const each of words) {
        const key = stem(each);
        const others = words.filter((other) => stem(other) !== key);
        bySpelling.set(key, [...new Set([...(bySpelling.get(key) ?? []), ...others])]);
      }
    }
  }
  return bySpelling.get(stem(word)) ?? [];
}
