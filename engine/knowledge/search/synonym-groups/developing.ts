/**
 * Synonyms in the language of developers, across the languages of the stop words; each line is one meaning.
 * Hyphenated words are a phrase. Spaced words are compared by their stems, Chinese and Japanese words literally.
 */
export const DEVELOPING = `
authentication authenticate auth login signin logon credential identity sso oauth anmeldung anmelden authentifizierung 登录 认证 身份 ログイン 認証 サインイン
authorization permission access right privilege role allowed berechtigung zugriff recht erlaubnis rolle 权限 授权 角色 権限 認可 アクセス
password passphrase credential passwort kennwort 密码 口令 パスワード
secret key token credential schlussel geheimnis 密钥 令牌 鍵 トークン シークレット
session cookie sitzung 会话 セッション クッキー
user customer account member client person benutzer nutzer kunde konto mandant tenant 用户 客户 账号 账户 ユーザー 利用者 顧客 アカウント
security vulnerability attack exploit injection xss csrf hardening sicherheit lucke angriff 安全 漏洞 攻击 セキュリティ 脆弱性 攻撃
encrypt encryption cipher crypto verschlusselung verschlusseln 加密 暗号化
hash digest checksum fingerprint prufsumme 哈希 校验 ハッシュ
certificate cert tls ssl https zertifikat 证书 証明書
privacy gdpr dsgvo personal pii datenschutz 隐私 个人 個人情報 プライバシー
error failure fail exception fault problem issue fehler ausnahme storung 错误 失败 异常 报错 故障 エラー 失敗 例外 障害 不具合
bug defect regression broken fehler 缺陷 バグ
crash abort die panic segfault killed oom absturz abgesturzt 崩溃 闪退 クラッシュ 落ちる
hang stuck freeze block deadlock stall blockiert hangt 卡住 死锁 卡死 デッドロック 固まる
warning alert alarm notify warnung 警告 告警 报警 アラート 通知
slow performance latency speed sluggish delay langsam leistung geschwindigkeit verzogerung 慢 性能 延迟 速度 遅い 性能 遅延 速度
fast quick speed rapid schnell beschleunigen 快速 高速
timeout deadline expire expiry expiration abgelaufen zeituberschreitung ablauf 超时 过期 截止 タイムアウト 期限 有効期限
retry reattempt repeat backoff resend again wiederholen wiederholung erneut versuch 重试 重复 リトライ 再試行
limit maximum max cap quota bound ceiling threshold minimum min restriction grenze grenzwert obergrenze hochstens begrenzung 限制 上限 阈值 配额 制限 上限 しきい値
size length large big huge width bytes dimension capacity grosse lange umfang gross 大小 长度 尺寸 容量 サイズ 長さ 大きさ 容量
count number amount quantity how-many anzahl menge zahl 数量 个数 件数 数量
money price amount currency cents payment cost fee betrag preis geld wahrung kosten 金额 价格 货币 费用 元 分 金額 価格 通貨 料金
payment billing invoice charge checkout refund zahlung rechnung abrechnung 支付 付款 账单 发票 退款 支払い 請求 決済 返金
tax vat duty steuer mehrwertsteuer mwst umsatzsteuer 税 税率 消費税
round rounding precision decimal float fraction rundung runden genauigkeit kommazahl nachkommastellen 舍入 精度 浮点 小数 四舍五入 丸め 精度 小数
order purchase cart basket bestellung auftrag warenkorb 订单 下单 购物车 注文 カート
product item article goods sku artikel produkt ware 商品 产品 货品 商品 製品
stock inventory warehouse lager bestand 库存 仓库 在庫 倉庫
time clock date timestamp datetime uhrzeit zeit datum zeitstempel 时间 日期 时间戳 時刻 日時 日付
timezone utc offset zeitzone 时区 タイムゾーン
schedule cron timer periodic nightly job batch interval recurring zeitplan nachtlauf geplant 定时 计划 调度 批处理 夜间 定期 バッチ スケジュール 夜間 毎日
duration long minutes seconds wait dauer dauert 时长 多久 多长 时间 所要 時間 期間
config configuration setting option preference parameter flag konfiguration einstellung parameter 配置 设置 参数 选项 設定 パラメータ オプション
environment env variable umgebung umgebungsvariable 环境 变量 環境 環境変数
setup install bootstrap onboarding initialize prepare provision einrichten einrichtung installieren aufsetzen 安装 搭建 初始化 配置 セットアップ 構築 インストール 初期化 導入
default standard fallback preset standardwert vorgabe 默认 缺省 デフォルト 既定
toggle switch flag feature enable disable schalter umschalten 开关 启用 禁用 切り替え 有効 無効 フラグ
database db postgres postgresql mysql sqlite mariadb datenbank 数据库 データベース
table relation entity tabelle 表 数据表 テーブル
schema migration ddl column migrate spalte schemaanderung 迁移 结构 字段 スキーマ マイグレーション 移行
query sql statement lookup select abfrage anfrage 查询 语句 检索 クエリ 検索 問い合わせ
orm mapper sequelize hibernate activerecord sqlalchemy
transaction commit atomic rollback transaktion 事务 トランザクション
index reindex search fulltext elasticsearch lucene suche suchen 索引 搜索 インデックス 索引 検索
connection connect pool socket link verbindung verbinden 连接 連接 接続 コネクション
cache caching memoize cached buffer zwischenspeicher puffer 缓存 キャッシュ
backup dump snapshot archive sicherung datensicherung 备份 快照 归档 バックアップ スナップショット
restore recover recovery undelete wiederherstellen wiederherstellung 恢复 还原 復元 復旧 リストア
replica replication standby mirror secondary replikat 副本 从库 复制 レプリカ 複製
seed fixture sample initial testdata stammdaten 种子 初始数据 シード 初期データ
delete remove drop erase purge wipe clear discard vanish disappear lose lost gone loschen entfernen verschwunden 删除 移除 清除 清空 丢失 消失 削除 消去 除去 消える
create add make new generate insert provision erstellen anlegen hinzufugen neu erzeugen 创建 新建 添加 增加 生成 作成 追加 生成 新規
change modify edit update alter amend adjust andern anpassen bearbeiten anderung 修改 更改 变更 更新 编辑 変更 編集 更新 修正
rename move relocate umbenennen verschieben 重命名 移动 名前変更 移動
replace swap substitute exchange supersede migrate ersetzen austauschen wechsel 替换 更换 置き換え 交換
choose chose pick prefer decide decision selected adopted instead entscheidung gewahlt bevorzugt 选择 决定 采用 选用 選択 採用 決定
reject rejected dropped avoid abandon refuse decline abgelehnt verworfen vermeiden 放弃 拒绝 避免 弃用 却下 拒否 廃止 避ける
forbid forbidden prohibit never disallow ban deny verboten nie untersagt 禁止 不得 不要 禁止
must required mandatory obligatory always pflicht notwendig immer 必须 必需 必要 必須 必ず
why reason rationale cause because grund ursache warum 原因 理由 为什么 理由 原因 なぜ
procedure steps instructions guide howto process runbook playbook vorgehen anleitung ablauf schritte verfahren 步骤 流程 方法 手册 手順 方法 やり方
convention rule style guideline standard naming regel konvention richtlinie stil 约定 规范 规则 风格 規約 ルール 規則 命名
name naming title label call bezeichnung namen benennung bezeichner 名称 命名 名字 名前 命名 名称
document docs documentation readme manual wiki comment dokumentation handbuch 文档 说明 手册 ドキュメント 文書 資料
comment annotation remark kommentar 注释 备注 コメント
language locale translation i18n l10n localization sprache ubersetzung lokalisierung 语言 翻译 国际化 言語 翻訳 国際化
encoding charset utf8 unicode bom mojibake kodierung zeichensatz umlaut 编码 字符集 乱码 文字コード 文字化け エンコーディング
format formatter formatting layout formatieren formatierung 格式 格式化 形式 書式 フォーマット
indent indentation tabs spaces whitespace einruckung leerzeichen 缩进 空格 インデント
lint linter linting prettier eslint biome static-analysis
parse parser decode deserialize tokenizer lexer tokenize zerlegen 解析 パース 構文解析
serialize encode marshal stringify serialisieren 序列化 シリアライズ
json machine-readable structured
validate validation check verify sanitize prufen prufung validierung uberprufen 校验 验证 检查 検証 チェック 確認
sort sorting ordering reorder sequence sortieren reihenfolge sortierung 排序 顺序 並び替え 順序 ソート
duplicate duplicated double twice dedupe idempotent doppelt mehrfach 重复 两次 重複 二重 二回
unique identifier id uuid key primary kennung nummer 编号 标识 唯一 识别 識別子 番号 一意
null undefined nil none empty missing blank leer fehlt fehlend 空 缺失 为空 空 欠損 未定義
type typing typescript interface generic typ typen 类型 型
boolean bool predicate
convert conversion cast transform coerce umwandeln konvertierung 转换 変換
compile build bundle transpile bauen ubersetzen 编译 构建 打包 ビルド コンパイル
deploy deployment release ship rollout publish launch golive production ausrollen veroffentlichen auslieferung 部署 发布 上线 デプロイ リリース 公開 反映
production prod live produktion 生产 线上 本番
staging preprod preview testserver testsystem testumgebung 预发 测试环境 ステージング 検証環境
rollback revert undo downgrade backout zuruckrollen zurucksetzen ruckgangig 回滚 撤销 回退 ロールバック 切り戻し 元に戻す
version release tag semver upgrade bump ausgabe aktualisieren 版本 升级 バージョン アップグレード
dependency dependencies package library module vendor abhangigkeit paket bibliothek 依赖 包 库 模块 依存 パッケージ ライブラリ
manager npm yarn pnpm bun
deprecated legacy obsolete old outdated retired sunset veraltet alt 废弃 过时 旧 遗留 非推奨 旧 レガシー
pipeline ci cd workflow actions jenkins runner 流水线 持续集成 パイプライン
test tests spec testing unittest integration prufung testen 测试 用例 テスト 試験
mock stub fake double attrappe 模拟 桩 モック スタブ
flaky intermittent unstable unreliable sporadic random nondeterministic sporadisch instabil 不稳定 偶发 间歇 不安定 たまに
coverage abdeckung 覆盖率 カバレッジ
debug debugging troubleshoot diagnose inspect investigate analyse profile fehlersuche untersuchen 调试 排查 诊断 分析 デバッグ 調査 解析
log logs logging logger trace protokoll protokollierung logdatei 日志 记录 ログ 記録
metric metrics monitoring observability prometheus grafana telemetry dashboard uberwachung metrik kennzahl 指标 监控 监测 メトリクス 監視 指標
memory ram heap leak oom speicher arbeitsspeicher 内存 内存泄漏 メモリ
disk storage volume filesystem space platte festplatte speicherplatz 磁盘 存储 空间 ディスク ストレージ 容量
cpu core processor load prozessor kern last 处理器 负载 核 プロセッサ 負荷
gpu graphics graphic
parallel concurrent concurrency simultaneous thread worker gleichzeitig nebenlaufig parallelitat 并行 并发 线程 同时 並列 並行 同時 スレッド
race collision conflict contention wettlauf konflikt 竞争 冲突 競合 衝突
lock mutex semaphore locking locked sperre gesperrt sperrt 锁 加锁 锁定 ロック 排他
queue broker backlog kafka rabbitmq sqs pubsub outbox warteschlange 队列 消息队列 キュー 待ち行列
message event notification publish nachricht ereignis benachrichtigung 消息 事件 通知 メッセージ イベント 通知
websocket sse push realtime stream streaming live echtzeit 实时 推送 リアルタイム 配信
start boot launch run execute invoke trigger starten ausfuhren laufen beginnt startet 启动 运行 执行 触发 起動 実行 開始 動く
stop halt terminate kill shutdown quit exit sigterm beenden stoppen anhalten herunterfahren 停止 关闭 终止 退出 停止 終了
restart reboot relaunch reload neustart neu-laden 重启 重新启动 再起動
graceful drain clean
server backend host machine node instance dienst rechner 服务器 后端 主机 サーバー バックエンド ホスト
service microservice daemon dienst 服务 微服务 サービス
frontend ui gui interface screen page view oberflache bildschirm seite ansicht 前端 界面 页面 画面 フロントエンド ページ
client browser safari chrome firefox webkit 浏览器 客户端 ブラウザ クライアント
mobile phone ios android smartphone handy 手机 移动 モバイル スマホ
button form input field field-value formular eingabe feld schaltflache 按钮 表单 输入 字段 ボタン フォーム 入力 項目
style css layout design theme color gestaltung farbe 样式 布局 主题 颜色 スタイル レイアウト デザイン 色
image picture photo thumbnail icon graphic bild foto vorschaubild 图片 图像 照片 缩略图 画像 写真 サムネイル
component widget element komponente 组件 控件 コンポーネント 部品
render rendering paint draw ssr darstellung rendern 渲染 绘制 描画 レンダリング
api endpoint route rest graphql url schnittstelle endpunkt 接口 端点 路由 インターフェース エンドポイント
request call http fetch anfrage aufruf 请求 调用 リクエスト 要求 呼び出し
response reply answer result status antwort ergebnis 响应 返回 结果 应答 レスポンス 応答 結果
redirect forward forwarding weiterleitung umleitung 重定向 跳转 转发 リダイレクト 転送
proxy gateway loadbalancer nginx ingress reverse lastverteiler 代理 网关 负载均衡 プロキシ ゲートウェイ 負荷分散
cors origin preflight crossorigin 跨域
header headers kopfzeile 请求头 ヘッダー
throttle throttling rate ratelimit 429 drosselung 限流 频率 レート制限
webhook callback hook
upload import ingest load hochladen importieren einspielen 上传 导入 アップロード 取り込み インポート 投入
download export fetch herunterladen exportieren 下载 导出 ダウンロード エクスポート 出力
file files document datei 文件 ファイル
directory dir folder path verzeichnis ordner pfad 目录 文件夹 路径 ディレクトリ フォルダ パス
mail email smtp newsletter nachricht 邮件 邮箱 メール
spam junk 垃圾邮件 迷惑メール
sms text phone verification 短信 验证码 ショートメッセージ
report reporting export statistic statement bericht auswertung statistik 报表 报告 统计 レポート 帳票 集計 報告
spreadsheet excel csv xlsx tabellenkalkulation 表格 エクセル
pdf print printing drucken 打印 印刷
repository repo monorepo git 仓库 代码库 リポジトリ
branch branches fork zweig 分支 ブランチ
commit commits checkin message changeset 提交 コミット
merge rebase integrate zusammenfuhren 合并 マージ
review pullrequest pr mergerequest codereview approval begutachtung 评审 审查 合并请求 レビュー
approve approval sign-off permission freigabe genehmigung 审批 批准 承認
container docker podman image dockerfile 容器 镜像 コンテナ
kubernetes k8s pod cluster helm 集群 クラスタ
vm virtual machine vagrant
network dns vpn firewall port netz netzwerk 网络 防火墙 端口 ネットワーク ポート
address ip host adresse 地址 アドレス 住所
local localhost offline lokal 本地 ローカル
watch watcher watching inotify monitor beobachten 监听 監視
script command cli shell bash terminal skript befehl 脚本 命令 终端 スクリプト コマンド
class inheritance object abstract extend subclass base klasse vererbung 继承 类 継承 クラス
function method procedure routine callable funktion methode 函数 方法 関数 メソッド
loop iterate recursion cycle infinite schleife endlos 循环 递归 ループ 再帰
mutate mutation immutable side-effect in-place veranderlich 可变 不可变
array list collection vector liste feld 数组 列表 配列 リスト 一覧
random jitter shuffle entropy zufall 随机 ランダム 乱数
regex pattern regexp ausdruck 正则 正規表現
contact responsible owner team maintainer support ansprechpartner zustandig 联系 负责人 担当者 連絡先
vacation holiday weekend feiertag urlaub 假期 节假日 休日 祝日
audit compliance legal law regulation gesetz revision 审计 合规 法律 监管 監査 法令
keep retain retention store preserve aufbewahren aufbewahrung speichern 保留 保存 存储 保存 保持 保管
archive archival archivieren 归档 存档 アーカイブ
sync synchronize synchronise abgleich synchronisation 同步 同期
split divide chunk part partition teilen aufteilen 拆分 分片 分割
combine join concat unify verbinden vereinen 合并 统一 結合 統一
generated generate codegen autogenerated generiert 自动生成 自動生成
ignore skip exclude omit auslassen ignorieren uberspringen 忽略 跳过 排除 無視 除外
soft tombstone deleted_at archived
translate string text message ubersetzen
editor ide vscode vim
architecture design structure architektur aufbau 架构 设计 结构 アーキテクチャ 設計 構成
stage phase step environment stufe 阶段 段階
separate several multiple distinct single one getrennt mehrere einzeln 多个 单个 複数 単数
windows win32 powershell
linux unix ubuntu debian
mac macos darwin osx apple
400 bad-request malformed
401 unauthorized unauthenticated login
403 forbidden access-denied permission-denied
404 not-found missing
405 method-not-allowed
408 504 gateway-timeout request-timeout
409 conflict
413 too-large payload-too-large entity-too-large
415 media-type content-type
422 unprocessable validation
429 too-many-requests rate-limit throttle
431 header-too-large headers-too-large
500 internal-server-error
502 bad-gateway
503 service-unavailable unavailable overloaded
eaddrinuse address-already-in-use address-in-use port-in-use port-taken
econnrefused connection-refused
econnreset connection-reset socket-hang-up
enoent no-such-file file-not-found
eacces permission-denied access-denied zugriff-verweigert
eperm operation-not-permitted
emfile too-many-open-files file-descriptors
enospc no-space-left disk-full platte-voll 磁盘已满 容量不足
etimedout timed-out timeout
enotfound unknown-host name-resolution dns
epipe broken-pipe
eexist already-exists
exdev cross-device
erofs read-only schreibgeschutzt
enomem 137 sigkill oom oomkilled out-of-memory memory-limit
139 sigsegv segfault segmentation-fault
143 sigterm
130 sigint interrupted ctrl-c
127 command-not-found
orm object-relational-mapper object-relational-mapping prisma typeorm hibernate
pr pull-request merge-request mr review
ci continuous-integration pipeline
cd continuous-delivery continuous-deployment
sso single-sign-on login
mfa 2fa otp totp two-factor second-factor one-time-password
rbac role-based
csp content-security-policy
cdn edge content-delivery
jwt json-web-token bearer token
ttl time-to-live expiry lifetime idle-time lebensdauer 存活 有効期間
eol end-of-life out-of-support unsupported
slo sla service-level
rto rpo disaster-recovery
gc garbage-collection garbage-collector
dlq dead-letter poison undeliverable rejected
ota over-the-air firmware-update
isr interrupt interrupt-handler 中断 割り込み
adc analog analogue
mcu microcontroller firmware board chip
firmware embedded flash 固件 ファームウェア
rtos freertos zephyr real-time-operating-system
uart serial serial-port serial-console baud 串口 シリアル
sensor measurement reading probe messwert 传感器 センサー
battery power energy sleep-mode standby strom akku batterie 电池 功耗 電池 電力
radio wireless wifi bluetooth ble lora funk 无线 無線
register address-map peripheral
watchdog reset-itself hang-detection
hmr hot-reload live-reload
e2e end-to-end playwright cypress selenium
unit-test unittest
a11y accessibility screen-reader barrierefrei
nfs smb network-drive network-share netzlaufwerk
kyc know-your-customer identity-check identity-papers
iban bank-account account-number kontonummer
sepa bank-transfer wire-transfer uberweisung
ledger booking posting journal bookkeeping buchung buchhaltung 账本 记账 会計 仕訳
closing month-end year-end close-the-books abschluss 结账 決算
trade trading exchange order-book stock-market equities 交易 行情 取引
settlement settle clearing payout 结算 清算
fraud risk scoring suspicious betrug 风控 欺诈 不正
interest loan lending credit zins darlehen kredit 利息 贷款 利息 融資
statement account-statement kontoauszug
fps frame-rate frames-per-second stutter hitch
npc enemy enemies mob opponent gegner 敌人 敵
player gamer spieler 玩家 プレイヤー
game gameplay spiel 游戏 ゲーム
multiplayer netcode lockstep matchmaking lobby
save savegame checkpoint progress spielstand 存档 セーブ
sprite texture atlas tileset
shader material gpu-program
physics simulation simulate timestep
audio sound music ton klang 声音 音效 音声
animation tween keyframe
scene level map world
jump-host bastion 堡垒机 踏み台
downtime outage maintenance wartung ausfall stillstand 维护 停机 停服 メンテナンス 停止
oncall on-call rota pager standby-duty bereitschaft 值班 当番
runbook playbook procedure
terraform infrastructure-as-code pulumi cloudformation
node-drain evict cordon
autoscale autoscaling scale-up scale-out skalierung 扩容 伸缩 スケール
spot preemptible interruptible
bucket s3 blob-store object-storage
vault secret-store secret-manager
thundering-herd stampede at-once jitter
stutter jank lag ruckeln 卡顿 カクつく
amount total sum price betrag summe 总额 合计 合計 総額
separator delimiter comma decimal-point trennzeichen komma 分隔符 区切り
picture image photo photograph bild 图像 画像
dimension size width height resolution pixel px abmessung auflosung 尺寸 分辨率 解像度
minimum least at-least mindestens 最低 最小
length characters chars digits lange zeichen stellen 字符 位数 文字数 桁数
machine-readable json structured-output parseable
output print stdout ausgabe 输出 出力
order sort sorting sequence reihenfolge 排序 順番
team-member colleague developer joiner newcomer onboard onboarding first-day mitarbeiter entwickler 新人 同事 開発者 メンバー
package-manager npm yarn pnpm bun
vanish vanished disappear gone lost lose remove
unit kilobyte kibibyte megabyte bytes einheit 单位 単位
readiness liveness health-check healthz probe heartbeat
erase forget gdpr right-to-erasure loschung
logout log-out sign-out logged-out abmelden 退出 ログアウト
login log-in sign-in logged-in anmelden
startup start-up boot cold-start hochfahren
shutdown shut-down graceful-stop gracefully drain
cleanup clean-up tidy aufraumen 清理 片付け
backup back-up
setup set-up
rollback roll-back zuruck
timezone time-zone
username user-name login-name
password pass-phrase
deadlock dead-lock
whitespace white-space
workaround work-around umgehung 临时方案 回避策
breaking-change incompatible breaking inkompatibel 不兼容 互換性
race-condition race concurrency
load-balancer loadbalancer lb lastverteiler lastverteilung 负载均衡
feature-flag feature-toggle flag toggle
environment-variable env-var env
source-code code quelltext quellcode 源码 ソースコード
code-review review begutachtung
stack-trace stacktrace traceback backtrace
memory-leak leak heap-growth speicherleck
data-loss lost-data datenverlust 数据丢失 データ消失
character-encoding charset mojibake garbled
foreign-key constraint reference fremdschlussel 外键 外部キー
read-only readonly immutable nur-lesen 只读 読み取り専用
line-ending newline crlf lf eol-style zeilenende 换行 改行
file-name filename dateiname 文件名 ファイル名
line-length column-limit
naming-convention identifier variable-name bezeichner variablenname 变量名 変数名 命名
open-source license licence lizenz 许可证 ライセンス
supplier vendor provider third-party lieferant anbieter 供应商 业者 取引先 業者
printer print label etikett drucker druck 打印机 プリンター 印刷
shipping shipment parcel delivery courier versand paket lieferung 物流 快递 发货 配送 出荷
warehouse storehouse goods lager ware 仓库 倉庫
shortage missing-stock out-of-stock fehlmenge 缺货 欠品
return refund rma rucksendung ruckgabe 退货 返品
discount coupon voucher promo rabatt gutschein 折扣 优惠券 割引 クーポン
subscription plan tier abo abonnement 订阅 套餐 サブスクリプション
trial demo probe-zeitraum 试用 試用
scan scanner barcode qr 扫描 条码 スキャン
touch touchscreen display screen tastatur bildschirm 触摸 屏幕 タッチ 画面
temperature overheat heat hot temperatur hitze 温度 过热 温度 過熱
voltage brown-out power-loss blackout power-cut stromausfall spannung 电压 断电 停電 電源
calibrate calibration offset-correction kalibrieren 校准 較正 キャリブレーション
`;
