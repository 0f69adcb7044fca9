/** General synonyms of any field: verbs and their irregular forms, qualities, people. As in `developing.ts`. */
export const EVERYDAY = `
break broke broken breaks
freeze froze frozen hang hung stuck
lose lost loss drop dropped dropping missing vanish disappear discard verlieren verloren verlust 丢失 消失 失われる
write wrote written
send sent transmit emit submit senden gesendet 发送 送信
run ran
keep kept
choose chose chosen pick select prefer
forget forgot forgotten
build built
think thought
hold held
swap swapped exchange replace substitute instead switch tauschen austauschen ersetzen 更换 替换 交換 置き換え
fall fell fallen decline sink decrease lower
rise rose risen grow grew grown increase climb
shrink reduce smaller compress slim trim lower half decrease verkleinern reduzieren 减少 压缩 缩小 減らす 縮小
expensive cost costly price bill budget spend cheap cheaper teuer kosten 贵 费用 高い 費用
wrong incorrect false erroneous mistaken off shifted falsch 错误 不对 間違い
backwards reverse reversed opposite wrong-direction inverted direction swapped ruckwarts 反向 逆
broken defective failed faulty damaged defekt kaputt 坏 损坏 故障 壊れ
refuse reject deny decline forbid disallow block ablehnen verweigern 拒绝 拒否
forbid forbidden ban prohibited not-allowed disallow may-nothing never abort verboten 禁止 不得
allow allowed may permit can erlaubt darf 允许 可以 许可 許可
legal law regulation compliance policy gdpr jurisdiction restriction rechtlich vorschrift 法律 合规
who owner ownership responsible owns team author
approve approves sign-off signs-off signed-off consent accept freigabe
colleague analyst teammate employee staff coworker developer person kollege
beginner newcomer new-hire onboard onboarding
historical past old earlier backfill previous former
stale outdated old fresh freshness refreshed not-refreshed lag cache cached veraltet 过期 陈旧 古い
fresh freshness up-to-date current timely
twice double duplicated second-time again two-places both
repeated repeat retry retries again attempts attempt
empty nothing none zero no-rows blank
trustworthy reliable credible calibrated confidence
sometimes randomly sporadic once-a-day intermittent occasionally
nightly night each-night daily overnight nachtlich jede-nacht
exchange replacement swap
announce inform tell notify communicate mail ankundigen informieren
remove delete erase drop purge wipe clear prune loschen entfernen 删除 清理 清除 削除
restore recover recovery bring-back wiederherstellen wiederherstellung 恢复 復元 復旧
recover restore disaster data-loss
separate split divide cut
together jointly combined
requirement required mandatory must needed prerequisite obligatory pflicht
documentation described docs card document
proof evidence report
compatible compatibility abi binary-compatibility
pattern-matching regex
deadline due finish finished finishes done ready by-when frist
drop dropped lost discarded
missing absent lost gone dropped no-longer
responsible on-call duty incident
incident outage emergency page pager storung vorfall
limit narrow restrict bound
digit digits zero zeros leading-zeros zip
postal postcode zip zip-code plz postleitzahl 邮编 郵便番号
answer respond reply response
phone mobile smartphone device
machine node host server instance
checked verified validated tested
broken-down defective
excel spreadsheet tabellenkalkulation
cent cents decimals rounding nachkommastellen
rundungsfehler nachkommastellen rundet runden
geldbetrag geldbetrage betrag betrage amount price
aktualisierung update upgrade flashen
neustart startet-neu restart reboot reset watchdog
kennung seriennummer identifier serial-number serial
stromausfall notstrom blackout power-failure ups 停电 停電
serverraum rechenzentrum data-centre datacenter data-center 机房 データセンター
sommerzeit winterzeit zeitumstellung dst daylight-saving summer-time 夏令时 夏時間
bricht-ab schlug-fehl abbruch fehlgeschlagen scheitert
netzwerk netz network
zeitfenster wartungsfenster maintenance-window
recent recently latest new newest current letzte 最近 直近
deadline due cut-off latest-time by-when time-limit frist stichtag 截止 締切
frequency how-often rate interval hertz hz takt 频率 周波数
direction orientation backward forward richtung 方向
define defined declare declared configure configured specified
location place site standort ort
first initial beginning anfang
weekend saturday sunday wochenende 周末 週末
compute calculate derive
walk walkable navigation
elapsed duration time-span
negative minus below-zero negativ 负 マイナス
null nil zero none 0
special-character special-characters umlaut accent diacritic non-ascii sonderzeichen 特殊字符 特殊文字
sensitive confidential personal private secret vertraulich 敏感 機密
rare seldom uncommon infrequent selten
worker employee staff
glove handschuh
decimal decimals fraction comma dezimalstelle dezimalstellen nachkommastelle komma
weight scale gram gewicht waage kilogram 重量 秤
destroy recreate delete-and-create destroyed
slower regression slowdown
`;
