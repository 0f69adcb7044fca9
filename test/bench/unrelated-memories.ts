/** Subjects that no question of the labelled sets is about. */
const SUBJECTS =
  'freight parcel tariff meter lighthouse recipe booking ferry orchard museum turbine ticket roster harvest vineyard tram locker clinic seminar quarry bakery glacier aquarium choir herbarium greenhouse stadium railway brewery archive workshop kiosk pavilion'.split(
    ' ',
  );
/** Things that those subjects involve. */
const OBJECTS =
  'lamp gate valve bread seat pallet crate kettle ladder barrel carpet curtain drum engine fence flag flower fountain furnace glove hammer hinge horse jacket jar kite knife ladle lantern lemon lens lid mattress medal melon mirror needle nest oar onion oven paddle pear pedal pencil pepper piano pillar pillow pipe plank plate plum pump quilt radiator rail ribbon river roof rope rudder saddle sail salt sample scarf screw shelf shovel signal siren sledge soap spade spice spoon spring stamp stove straw sugar table tank tent thread tile timber tower towel tractor trailer tray trolley trumpet trunk tulip tunnel tyre umbrella uniform vase wagon wall walnut wheel whistle willow window wool yarn yoghurt anchor apron arch axle banner basin bell blanket bolt bridge broom brush bucket cabin candle canvas chain chalk chimney clay cotton'.split(
    ' ',
  );
const PARTS =
  'planner importer exporter scanner viewer adapter collector resolver renderer mailer wizard bridge sensor dialog catalogue gateway scheduler tracker editor checker registry simulator printer composer agent console listener mapper picker archive'.split(
    ' ',
  );
/** Terms of the field, the common ones first. */
const THINGS =
  `service request user file test error build session data order config cache table query page version token key customer report
job queue branch commit worker server module schema message column path log index endpoint image label format event port
migration dependency release limit password timeout retry backup container certificate metric cluster language role secret
account button form header cookie payload policy template topic snapshot thread lock pipeline package script folder script
fixture deployment warning currency invoice address name size type value number list memory connection handler password status
body text icon theme locale tenant quota price replica shard checksum counter offset segment pointer register firmware texture
frame camera ledger posting balance interest settlement sprite packet antenna voltage interrupt buffer volume zone subnet region`.split(
    /\s+/,
  );
const VERBS =
  `uses stores reads keeps sends needs writes checks returns ignores drops changes creates updates runs starts stops waits
retries logs loads sorts splits merges renames deletes restores copies formats rounds compares rejects accepts caches exports imports
prints measures counts limits signs encrypts moves replaces publishes polls opens closes fails blocks skips repeats resets`.split(
    /\s+/,
  );
const MANNERS =
  'slow old new shared local remote temporary empty large small broken duplicate missing stale nightly manual parallel encrypted invalid public internal default'.split(
    ' ',
  );
const REASONS = [
  'because the vendor asked for it',
  'since the audit in spring',
  'until the contract ends',
  'or the night shift has to do it by hand',
  'as the field team wanted',
  'which nobody had expected',
  'after the second incident',
  'so that the totals agree',
  'except on the training system',
  'when the line is busy',
];
const UNITS = ['seconds', 'minutes', 'days', 'MB', 'rows', 'pixels', 'percent', 'attempts'];
const CODES = ['E', 'ERR', 'FX', 'HY', 'QA', 'TS', 'CK'];
const TYPES = ['fact', 'decision', 'gotcha', 'convention', 'procedure', 'todo', 'preference'];
const GERMAN = {
  subjects: 'Fracht Paket Fähre Museum Ernte Tarif Zähler Weinberg Klinik Stadion'.split(' '),
  objects:
    'Lampe Tor Ventil Brot Sitz Palette Kessel Leiter Teppich Motor Zaun Blume Ofen Hammer Pferd Spiegel Nadel Zwiebel Pumpe Dach Seil Segel Salz Schraube Schaufel Seife Löffel Turm Anhänger Tunnel Reifen Schirm Wand Rad Fenster Wolle Anker Glocke Besen Eimer Kerze Kette'.split(
      ' ',
    ),
  things:
    'Auftrag Rechnung Bericht Tabelle Verbindung Fehler Datei Sprache Kunde Prüfung Schnittstelle Speicher Sitzung Version Meldung Zeile Frist Adresse Größe Währung'.split(
      ' ',
    ),
  verbs: 'speichert liest prüft sendet löscht ändert braucht startet schreibt wiederholt begrenzt'.split(' '),
};
const CHINESE = {
  subjects: '货运 包裹 渡轮 博物馆 电表 果园 诊所 车站'.split(' '),
  objects:
    '灯具 大门 阀门 面包 座椅 托盘 水壶 梯子 地毯 发动机 栅栏 花瓶 烤炉 锤子 马匹 镜子 洋葱 水泵 屋顶 绳索 船帆 食盐 螺丝 铲子 肥皂 勺子 塔楼 隧道 轮胎 雨伞 窗户 羊毛 铁锚 扫帚 水桶 蜡烛 铁链'.split(
      ' ',
    ),
  things:
    '订单 日志 缓存 接口 数据 报表 用户 密码 文件 部署 测试 队列 版本 权限 端口 配置 连接 证书 时间 任务'.split(
      ' ',
    ),
  verbs: '保存 读取 检查 发送 删除 修改 需要 启动 重试 限制 更新'.split(' '),
};
const JAPANESE = {
  subjects: '貨物 小包 フェリー 博物館 電力計 果樹園 診療所 駅'.split(' '),
  objects:
    '照明 門扉 弁 パン 座席 やかん はしご 絨毯 エンジン 柵 花瓶 かまど 金槌 馬 鏡 玉ねぎ ポンプ 屋根 縄 帆 塩 ねじ 石鹸 匙 塔 トンネル タイヤ 傘 窓 羊毛 錨 箒 桶 蝋燭 鎖'.split(
      ' ',
    ),
  things:
    '注文 ログ キャッシュ 画面 データ 帳票 ユーザー 設定 ファイル 処理 テスト 接続 バージョン 権限 証明書 時刻 エラー 項目'.split(
      ' ',
    ),
  verbs: '保存する 読み込む 確認する 送信する 削除する 変更する 必要とする 再試行する 更新する'.split(' '),
};

/**
 * Returns a memory such as a project has thousands of: sentences of ordinary words about other subjects, with terms
 * of the field, identifiers, paths, codes and numbers. Pseudo-random and reproducible.
 */
export function makeUnrelated(seed: number): { type: string; title: string; text: string; tags: string } {
  let state = (seed + 1) * 2_654_435_761;
  const next = (): number => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 374_761_393) >>> 0;
    return (state ^ (state >>> 13)) >>> 0;
  };
  const pick = (from: readonly string[]): string => from[next() % from.length] ?? '';
  /** Returns an item, preferring those near the start. */
  const common = (from: readonly string[]): string =>
    from[Math.floor(from.length * (next() / 2 ** 32) ** 1.5)] ?? '';
  /** Small numbers are more frequent. */
  const number = (): number => Math.floor(10 ** (5 * (next() / 2 ** 32)));
  const capital = (text: string): string => `${text[0]?.toUpperCase()}${text.slice(1)}`;
  const subject = `${pick(SUBJECTS)} ${pick(PARTS)}`;
  const identifier = (): string =>
    `${pick(VERBS).replace(/s$/, '')}${capital(pick(SUBJECTS))}${capital(pick(OBJECTS))}`;
  const thing = (): string => {
    const chance = next() % 4;
    if (chance === 0) return `${pick(MANNERS)} ${pick(OBJECTS)}`;
    return chance === 1 ? `${pick(OBJECTS)} ${pick(OBJECTS)}` : `${pick(OBJECTS)} ${common(THINGS)}`;
  };
  const sentences: (() => string)[] = [
    () => `The ${subject} ${common(VERBS)} the ${thing()} ${pick(REASONS)}.`,
    () => `It ${common(VERBS)} each ${thing()} before the ${thing()} and ${common(VERBS)} it again.`,
    () => `At most ${number()} ${pick(UNITS)} a ${common(THINGS)}, ${pick(REASONS)}.`,
    () => `See ${pick(SUBJECTS)}/${pick(PARTS)}/${pick(OBJECTS)}-${common(THINGS)}.ts and ${identifier()}.`,
    () => `${pick(CODES)}${number()} means that the ${thing()} is ${pick(MANNERS)}.`,
    () => `Ask the ${pick(SUBJECTS)} team about the ${thing()}, ${pick(REASONS)}.`,
    () => `Never ${pick(VERBS).replace(/s$/, '')} a ${thing()} without its ${pick(OBJECTS)}.`,
  ];
  const titles: (() => string)[] = [
    () => capital(`${subject} ${common(VERBS)} the ${thing()}`),
    () => capital(`${thing()} of the ${subject}`),
    () => `How the ${subject} ${common(VERBS)} a ${thing()}`,
    () => `${identifier()} ${common(VERBS)} ${number()} ${pick(UNITS)}`,
    () => capital(`${pick(SUBJECTS)} ${thing()} needs a ${thing()}`),
  ];
  const type = pick(TYPES);
  const language = next() % 20;
  if (language < 2) {
    const { subjects, objects, things, verbs } = GERMAN;
    const say = (): string =>
      `${pick(subjects)}-${pick(objects)} ${pick(verbs)} ${next() % 2 === 0 ? `die ${pick(things)}` : `das ${pick(objects)}`} nach ${number()} Tagen`;
    return { type, title: say(), text: `${say()}. ${say()}.`, tags: pick(things).toLowerCase() };
  }
  if (language < 4) {
    const { subjects, objects, things, verbs } = language === 2 ? CHINESE : JAPANESE;
    const say = (): string =>
      language === 2
        ? `${pick(subjects)}${pick(objects)}${pick(verbs)}${pick(next() % 2 === 0 ? things : objects)}`
        : `${pick(subjects)}の${pick(objects)}は${pick(next() % 2 === 0 ? things : objects)}を${pick(verbs)}`;
    return { type, title: say(), text: `${say()}。${say()}。`, tags: pick(things) };
  }
  const told = Array.from({ length: 1 + (next() % 4) }, () =>
    (sentences[next() % sentences.length] ?? say0)(),
  );
  return {
    type,
    title: (titles[next() % titles.length] ?? say0)(),
    text: told.join(' '),
    tags: `${common(THINGS)},${pick(SUBJECTS)}`,
  };
}

const say0 = (): string => '';
