/** Ordinary words: events, time, place, and amounts. As in `developing.ts`. */
export const ORDINARY = `
arrive arrives arrived reach come delivered incoming ankommen 到达 届く
receive got obtain accept incoming erhalten empfangen 收到 接收 受信 受け取る
finish end complete conclude done beenden abschliessen 完成 結束 完了
never-finishes waits hang forever
wait waits waiting pause block warten 等待 待つ
continue go-on resume proceed weiter fortsetzen 继续 続ける
begin start initiate commence anfangen 开始 開始
quit leave exit close
open access read offnen 打开 開く
close shut schliessen 关闭 閉じる
show display present visible appear anzeigen zeigen 显示 表示
hide hidden conceal invisible covered covers behind verbergen verstecken 隐藏 隠れる
appear shown visible occurs
look-like appearance design shape
find found locate discover finden 找到 見つける
search look-for find seek suchen 搜索 検索
lost disappear missing strip strips stripped removed
strip stripped trim cut removes
cut cuts truncate truncated shorten aborted cropped abschneiden 截断 切り捨て
abort aborted cancel cancelled interrupt stop abbrechen 中止 取消 キャンセル
interrupt interruption disturb
happen occur arise take-place passieren geschehen 发生 発生
cause lead-to trigger result-in because
prevent avoid stop block protect verhindern vermeiden 防止 防ぐ
protect secure guard shield schutzen schutz 保护 保護
allow enable permit let
need require want must brauchen 需要
use employ apply utilise consume nutzen verwenden 使用
consume use usage take
offer provide supply give bieten
give provide grant assign hand vergeben zuordnen 给 分配
take get fetch obtain pull
bring deliver carry
show demonstrate prove
explain describe clarify erklaren 说明 解释 説明
understand know learn verstehen 理解
decide determine conclude choose entscheiden
compare difference differ diff versus vergleich unterschied 比较 对比 比較 差
differ different difference mismatch unequal vary abweichen unterscheiden 不同 違う
equal same identical alike gleich 相同 同じ
similar alike close near ahnlich 相似 類似
order arrange rank sort sequence reihenfolge
strange odd weird unusual unexpected seltsam 奇怪 異常
bad poor worse wrong schlecht
good well fine better
new fresh recent another additional
another further additional extra more other weitere 另外 追加
old ancient older earlier legacy former
first initial earliest
last latest final letzte
big large huge heavy grow great
small tiny little minor few
long lengthy large
short brief kurz 短
high tall above over exceed
low below under beneath
exceed exceeds above over more-than too-much overschreiten 超过 超過
too-much excess exceed over overcharged
enough sufficient suffice suffices genug 足够 十分
not-enough insufficient lack missing shortage too-few
many several numerous lots multiple
few little rare small
all every whole entire complete total
part portion piece section segment
only just solely merely exclusively
both two pair double
half 50-percent
between within during
before earlier prior ahead
after later following then afterwards
during while within
always constantly permanently every-time
often frequently usually
rarely seldom infrequently
again anew repeat another-time
soon shortly imminent
late delayed overdue spat zu-spat 迟 遅れ
early premature too-early before zu-fruh 早
daily every-day each-day taglich 每天 毎日
weekly every-week each-week wochentlich 每周 毎週
monthly every-month month-end monatlich 每月 毎月
yearly annual annually every-year jahrlich 每年 毎年
night dark nightly nacht 夜 夜间 夜間
morning early-hours dawn fruh morgens 早上 朝
dark night dim dunkel 暗
light bright theme hell
appearance theme look style
loud noise sound audio volume laut ton
silent mute muted quiet no-sound stumm 静音 無音
sound audio alarm autoplay noise
play autoplay start run
screen display monitor panel view
screenshot snapshot visual visual-regression capture 截图 スクリーンショット
keyboard keys keypad typing tastatur 键盘 キーボード
tablet tablets ipad pad handheld device
laptop macbook notebook computer
computer workstation pc machine desktop rechner 电脑 コンピュータ
apple mac macos ios iphone ipad safari macbook
microsoft windows outlook office azure
google android chrome gcp
shared together common several-people geteilt 共享 共有
alone single individual isolated
isolate isolation separate separation tenancy tenant partition trennen 隔离 分離
tenant tenancy multi-tenant customer client clinic organisation mandant 租户 テナント
inactive idle inactivity unused untatig 空闲 アイドル
automatic auto automatically automatisch 自动 自動
manual by-hand manually manuell hand 手动 手動
embedded iframe frame portal inside
inside within in embedded
outside external extern outer
external third-party outside foreign extern
internal inside intern own
public open visible offentlich 公开 公開
private personal hidden privat
safe secure harmless protected
dangerous risk risky unsafe hazard gefahrlich gefahr 危险 危険
risk danger threat risiko 风险 リスク
valid correct ok accepted gultig 有效 有効
validated verified check verify checked check-digit
number no digits identifier count
letter character char symbol buchstabe 字母 文字
text string words copy wording message
wording phrase text copy message formulierung texte 文案 文言
translation translate localisation
identify recognise detect erkennen 识别 認識
detect notice discover find recognise erkennen 检测 検出
guess assume infer estimate vermuten
estimate approximate about roughly schatzung 估计 見積
measure gauge count track messen 测量 計測
counted measured tallied metered
calculate count work-out
collect gather aggregate sum rollup sammeln 收集 集計
aggregate rollup summary sum total
summarise summary overview zusammenfassung 总结 要約
share distribute spread
connect link attach join verbinden 连接 接続
disconnect reconnect connection-lost getrennt
connection socket link connect verbindung 连接 接続
pooler pool connection-pool pgbouncer 连接池
adapter connector bridge interface driver integration
integration interface connector adapter hl7 edi
exchange transfer share interoperability standard
transfer move copy send ubertragen 传输 転送
download save fetch get
upload send put
print printer paper drucken gedruckt drucker 打印 印刷
paper sheet page papier 纸 紙
document letter paper file record dokument
margin padding border spacing rand abstand 边距 余白
border frame edge rahmen
broken corrupt damaged destroyed
repair fix mend reparieren 修复 修理
reason why motive ground
result outcome consequence ergebnis 结果 結果
effect impact influence consequence auswirkung 影响 影響
problem trouble difficulty issue schwierigkeit 问题 問題
solution fix remedy workaround losung 解决 解決
help support assist hilfe 帮助 ヘルプ
idea proposal suggestion vorschlag 建议 提案
plan intend roadmap planned planen 计划 計画
goal aim target objective ziel 目标 目標
task todo work job aufgabe 任务 作業
step stage action schritt
change history changelog log
changelog change-log release-notes changes
history log past record verlauf 历史 履歴
record entry item row note
note memo remark notiz
list overview catalogue directory
group team category class set
category kind sort type class art
kind type sort category
example sample instance beispiel 例子 例
rule law policy principle
exception special-case ausnahme 例外
option choice alternative possibility auswahl 选择 選択肢
language programming-language kotlin java python rust typescript
place spot position location
position location index place
top above upper head
bottom below lower foot
left remaining rest
right correct
side edge face
centre center middle mitte 中心
front head start
back behind rear end
colour color hue farbe 颜色 色
picture image graphic drawing
visual image screenshot appearance
words terms vocabulary glossary
term word expression glossary
stuck jam blocked
blocked waiting locked waits lock
behind after waits
running active live in-progress
people persons users staff humans
person human individual user
children kids
contact reach call inform phone
question ask inquiry query frage 问题 質問 問い合わせ
answer reply response respond
ask request demand fragen
tell say inform report notify
report notify tell announce
announce publish tell release
remind reminder notify erinnern 提醒 リマインド
invite invitation einladen 邀请 招待
join enter become-member beitreten
leave quit exit cancel
own have possess
belong part-of member
member participant user mitglied 成员 会員
rent lease hire
buy purchase order kaufen 购买 買う
sell vend offer
pay payment paid zahlen bezahlen 付 払う
earn gain profit revenue income einnahmen 收入 収入 売上
loss deficit minus
free gratis no-charge kostenlos 免费 無料
busy occupied working
idle inactive free
ready prepared available
available ready reachable accessible
reachable accessible up online erreichbar
online connected up
offline disconnected no-connection without-network
work function operate run
does-not-work broken fails down
down unavailable offline outage
up running available
skip skipped bypass omit not-run
bypass circumvent avoid umgehen 绕过 回避
graphical gui visual
text-box input field textbox
long-running slow heavy
`;
