/** The application domains of programs: trades and their objects. As in `developing.ts`. */
export const BUSINESSES = `
doctor physician surgeon specialist medic arzt arzte 医生 医師
nurse caregiver pfleger schwester 护士 看護師
patient patients sick person patienten kranke 患者 病人
hospital clinic ward practice surgery klinik krankenhaus praxis 医院 病院
appointment booking reservation slot visit calendar termin terminvergabe 预约 予約
calendar diary agenda schedule kalender 日历 カレンダー
diagnosis icd finding findings illness disease diagnose befund 诊断 診断
medication medicine drug dosage dose prescription pill medikament arznei 药 薬
prescription rezept verordnung rx 处方 処方
laboratory lab test-result labor 化验 検査
radiology x-ray xray dicom scan ct mri imaging rontgen
medical-record health-record patient-file chart patientenakte akte 病历 カルテ
health medical clinical care gesundheit
insurance insurer policy krankenkasse versicherung kasse 保险 医保 保険
pharmacy pharmacist apotheke 药房 薬局
emergency urgent hotfix critical notfall dringend 紧急 緊急
bank account banking bankkonto 银行 銀行
card badge chip karte ausweis 卡 カード
stolen lost theft gestohlen verloren
employee staff worker colleague personnel mitarbeiter angestellte 员工 従業員 社員
manager boss lead head supervisor leiter chef leitung 经理 上司
lawyer attorney legal counsel anwalt jurist 法务 弁護士
contract agreement terms vertrag 合同 契約
guarantee promise promised warranty assurance garantie gewahrleistung 保证 保証
availability uptime sla verfugbarkeit 可用性
licence license licensing copyleft gpl lizenz 许可证 ライセンス
signature sign signed signing notarize unterschrift unterschreiben signieren signiert 签名 署名
letter letters mail post brief schreiben 信 手紙
phone telephone call hotline telefon anruf 电话 電話
support helpdesk hotline service-desk customer-service 客服 サポート
complaint complain complained feedback beschwerde 投诉 苦情
price pricing rate tariff preis tarif 价格 価格 値段
rebate discount reduction nachlass rabatt 折扣 割引
consumption usage metering metered verbrauch nutzung 用量 使用量
quarter quarterly quartal vierteljahr 季度 四半期
sale sales sell seller vertrieb verkauf 销售 販売 営業
marketing campaign newsletter advertising werbung 营销 広告
inbox mailbox postfach mails 邮箱 受信箱
charged billed invoiced credited overcharged berechnet
correct fix amend credit-note refund korrigieren stornieren storno
school pupil student teacher course lesson schule schuler lehrer kurs 学校 学生 老师 生徒 先生
exam quiz grade mark prufung note 考试 成绩 試験 成績
hotel room guest stay check-in zimmer gast 酒店 房间 ホテル 部屋
flight airline airport passenger flug fluggast 航班 航空 フライト
train railway station rail zug bahn bahnhof 火车 电车 電車 駅
car vehicle truck fleet lorry van auto fahrzeug lkw 车辆 汽车 車 車両
driver chauffeur fahrer 司机 運転手
route tour trip journey itinerary fahrt strecke 路线 ルート 経路
map geo location coordinates gps latitude longitude karte standort 地图 地図 位置
distance kilometre km mile entfernung 距离 距離
weather forecast wetter 天气 天気
restaurant kitchen dish menu meal speise gericht kuche 餐厅 菜单 レストラン 料理
recipe ingredient rezeptur zutat 食谱 レシピ
shop store retail branch outlet laden filiale 商店 门店 店舗
seller merchant vendor trader handler 商家 卖家
buyer shopper purchaser customer kaufer 买家
factory plant manufacturing production fabrik werk fertigung 工厂 工場 製造
machine equipment device plant maschine anlage 机器 设备 機械 設備
tool tools wrench werkzeug 工具 ツール
part component spare spare-part ersatzteil bauteil 零件 部品
shift shift-work schicht 班次 シフト
farm field crop harvest ernte feld 农场 農場
energy electricity power meter grid strom zahler 电 电力 電気
water pump valve wasser pumpe ventil 水 泵 阀门 ポンプ
house building property flat tenant rent wohnung miete gebaude 房屋 租金 家賃 建物
city town municipality stadt gemeinde 城市 市
government authority agency office behorde amt 政府 機関 役所
citizen resident inhabitant burger einwohner 市民
vote election ballot wahl stimme 投票 選挙
police crime polizei 警察
news article editorial press nachricht artikel presse 新闻 记事 ニュース 記事
author writer editor verfasser autor 作者 著者
book volume library buch bibliothek 书 图书 本 図書
music song track artist lied 音乐 歌曲 曲
film movie video clip footage 视频 电影 動画 映画
subtitle caption captions untertitel 字幕
photo camera picture shot kamera 相机 カメラ
sport match team league spiel liga 比赛 試合
ticket seat event admission eintritt 门票 座位 チケット 席
donation charity spende 捐款 寄付
survey questionnaire poll form umfrage fragebogen 问卷 アンケート
application applicant candidate recruit hiring bewerbung bewerber 申请 招聘 応募 採用
salary payroll wage gehalt lohn 工资 給与
leave absence holiday sick-leave urlaub abwesenheit 请假 休暇
birthday birth age geburtstag alter 生日 年龄 誕生日 年齢
gender sex salutation anrede geschlecht 性别 性別
address street city-name anschrift strasse 地址 住所
name surname first-name nachname vorname 姓名 氏名
family child parent kind eltern 家庭 家族 子供
relative relation verwandte
`;
