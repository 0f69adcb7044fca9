/** A span of time, from `since` up to but not including `until`; milliseconds. */
export interface TimeSpan {
  since: number;
  until: number;
}

type Unit = 'day' | 'week' | 'month' | 'year';

const UNITS: Readonly<Record<Unit, string>> = {
  day: 'days?|tage?n?|天|日間|日|일',
  week: 'weeks?|wochen?|个?星期|周|週間|週|주',
  month: 'months?|monate?n?|个月|か月間?|ヶ月間?|カ月間?|개월',
  year: 'years?|jahre?n?|年間?|년',
};
/** The names of whole units, each with how many units it lies back. */
const NAMED: readonly (readonly [Unit, number, string])[] = [
  ['day', 0, String.raw`\btoday\b|\bheute\b|今天|今日|오늘`],
  ['day', 2, String.raw`\bvorgestern\b|前天|一昨日|그저께`],
  ['day', 1, String.raw`\byesterday\b|\bgestern\b|昨天|昨日|어제`],
  ['week', 0, String.raw`\bthis week\b|\bdiese[rn]? woche\b|本周|这周|这个星期|今週|이번 ?주`],
  ['week', 1, String.raw`\blast week\b|\b(?:letzte|vorige)[rn]? woche\b|上周|上个?星期|先週|지난 ?주`],
  ['month', 0, String.raw`\bthis month\b|\bdiese[nm] monat\b|本月|这个月|今月|이번 ?달`],
  ['month', 1, String.raw`\blast month\b|\b(?:letzte|vorige)[nm] monat\b|上个?月|先月|지난 ?달`],
  ['year', 0, String.raw`\bthis year\b|\bdieses jahr\b|今年|올해`],
  ['year', 1, String.raw`\blast year\b|\b(?:letzte|vorige)[sm] jahr\b|去年|昨年|작년`],
];
const LATELY = String.raw`\brecently\b|\blately\b|\bkürzlich\b|\bneulich\b|最近|최근`;
const LATELY_DAYS = 14;
const SINCE = String.raw`(?:\bsince |\bseit |自从?)`;
const NUMBERS: readonly string[] = [
  'a|an|one|ein|einem|einer|一',
  'two|zwei|二|两',
  'three|drei|三',
  'four|vier|四',
  'five|fünf|五',
  'six|sechs|六',
  'seven|sieben|七',
  'eight|acht|八',
  'nine|neun|九',
  'ten|zehn|十',
];
const COUNT = String.raw`(\d{1,3}|${NUMBERS.join('|')})`;

/** Returns the start of the unit that lies `back` units before that of `now`, in local time; weeks start on Monday. */
function startOf(unit: Unit, now: number, back: number): number {
  const at = new Date(now);
  const [year, month, day] = [at.getFullYear(), at.getMonth(), at.getDate()];
  if (unit === 'year') return new Date(year - back, 0).getTime();
  if (unit === 'month') return new Date(year, month - back).getTime();
  const monday = unit === 'week' ? day - ((at.getDay() + 6) % 7) : day;
  return new Date(year, month, monday - back * (unit === 'week' ? 7 : 1)).getTime();
}

const spanOf = (unit: Unit, now: number, back: number): TimeSpan => ({
  since: startOf(unit, now, back),
  until: startOf(unit, now, back - 1),
});

const readCount = (text: string): number =>
  /^\d/.test(text)
    ? Number(text)
    : 1 + NUMBERS.findIndex((words) => words.split('|').includes(text.toLowerCase()));

interface TimePhrase {
  find: RegExp;
  spanOf(now: number, count: number): TimeSpan;
}

function listPhrases(): TimePhrase[] {
  const phrases: TimePhrase[] = [];
  const add = (find: string, span: TimePhrase['spanOf']): void => {
    phrases.push({ find: new RegExp(find, 'iu'), spanOf: span });
  };
  for (const [unit, names] of Object.entries(UNITS) as [Unit, string][]) {
    const rolling = (now: number, count: number): TimeSpan => ({
      since: startOf('day', now, 0) - (startOf(unit, now, 0) - startOf(unit, now, count)),
      until: startOf('day', now, -1),
    });
    add(
      String.raw`(?:\b(?:in |during )?(?:the )?(?:last|past) |\b(?:in den |der )?letzten |过去|最近|過去|지난 ?)${COUNT} ?(?:${names})`,
      rolling,
    );
    add(String.raw`\b(?:in |during |over )?the past (?:${names})`, (now) => rolling(now, 1));
    add(String.raw`\b${COUNT} (?:${names}) ago\b|\bvor ${COUNT} (?:${names})`, (now, count) =>
      spanOf(unit, now, count),
    );
    add(`${COUNT} ?(?:${names}) ?(?:以?前|전)`, (now, count) => spanOf(unit, now, count));
  }
  for (const [unit, back, names] of NAMED) {
    add(`${SINCE}(?:${names})`, (now) => ({
      since: startOf(unit, now, back),
      until: startOf('day', now, -1),
    }));
    add(names, (now) => spanOf(unit, now, back));
  }
  add(LATELY, (now) => ({ since: startOf('day', now, LATELY_DAYS), until: startOf('day', now, -1) }));
  return phrases;
}

let phrases: TimePhrase[] | undefined;

/** Reads the first words of time in a question: their span, and the question without them. Null without such words. */
export function readTimeWords(question: string, now: number): { span: TimeSpan; rest: string } | null {
  phrases ??= listPhrases();
  for (const { find, spanOf: toSpan } of phrases) {
    const found = find.exec(question);
    if (found === null) continue;
    const count = found.slice(1).find((each) => each !== undefined);
    return {
      span: toSpan(now, count === undefined ? 0 : readCount(count)),
      rest: `${question.slice(0, found.index)} ${question.slice(found.index + found[0].length)}`,
    };
  }
  return null;
}
