import type { NoiseClass, OutputMarks, OutputRecogniser } from '../recogniser.ts';

/** The names of columns, separated by two blanks or more. */
const HEADER = /^(?:[A-Z][A-Z()-]*(?: [A-Z-]+)*)(?: {2,}[A-Z][A-Z()-]*(?: [A-Z-]+)*)+ *$/;
const HEALTHY =
  /^(?:Running|Ready|Active|Bound|Available|Healthy|Completed|Succeeded|Up \d.*(?:\(healthy\))?|running|active|ready|up)$/;
/** Columns whose values differ without meaning. */
const PASSING = /^(?:AGE|CREATED|CREATED AT|ID|CONTAINER ID|IMAGE ID|IP|NODE|CPU.*|MEMORY.*)$/;
const FEWEST_ROWS = 6;

interface Column {
  name: string;
  from: number;
  to: number;
}

function readColumns(header: string): Column[] {
  const starts = [...header.matchAll(/(?:^|(?<= {2}))\S+(?: \S+)*/g)].map(({ 0: name, index }) => ({
    name,
    from: index,
  }));
  return starts.map(({ name, from }, at) => ({
    name,
    from,
    to: starts[at + 1]?.from ?? Number.POSITIVE_INFINITY,
  }));
}

const readCell = (row: string, { from, to }: Column): string => row.slice(from, to).trim();

/**
 * Tables with a column STATUS, as kubectl and docker print them: rows of healthy items that differ only in their name
 * and in values that always differ.
 */
export const statusTables: OutputRecogniser = {
  kind: 'containers',
  // It starts with a plain word, which is found much faster than the start of a line.
  evidence: /STATUS(?<=^[A-Z][A-Z() -]{0,300})(?: {2}|$)/,
  classes: [],
  mark({ bodies }, marks) {
    for (let at = 0; at < bodies.length; at += 1) {
      const header = bodies[at] as string;
      if (!HEADER.test(header)) continue;
      const columns = readColumns(header);
      if (columns.some(({ name }) => name === 'STATUS')) markHealthyRows(bodies, marks, at + 1, columns);
    }
  },
};

function markHealthyRows(
  bodies: readonly string[],
  marks: OutputMarks,
  start: number,
  columns: readonly Column[],
): void {
  const named = columns.find(({ name }) => name === 'NAMES') ?? columns.find(({ name }) => name === 'NAME');
  if (named === undefined) return;
  const byValues = new Map<string, number[]>();
  for (let at = start; at < bodies.length && (bodies[at] as string).trim() !== ''; at += 1) {
    const row = bodies[at] as string;
    if (HEADER.test(row)) break;
    const cells = columns.map((column) => [column.name, readCell(row, column)] as const);
    const isHealthy = cells.every(
      ([name, value]) =>
        (name !== 'STATUS' || HEALTHY.test(value)) &&
        (name !== 'RESTARTS' || value === '0') &&
        (name !== 'READY' || isComplete(value)),
    );
    if (!isHealthy) continue;
    const key = cells
      .map(([name, value]) => (name === named.name || PASSING.test(name) ? '' : dropTime(name, value)))
      .join('\t');
    byValues.set(key, [...(byValues.get(key) ?? []), at]);
  }
  for (const rows of byValues.values()) {
    if (rows.length < FEWEST_ROWS) continue;
    const names = rows.slice(1).map((at) => readCell(bodies[at] as string, named));
    const healthy: NoiseClass = {
      what: 'more rows like the one above',
      pattern: /(?!)/,
      values: names.join(', '),
    };
    for (const at of rows) marks[at] = healthy;
  }
}

/** `2/2`, but not `1/2`. */
const isComplete = (value: string): boolean => {
  const [ready, all] = value.split('/');
  return all === undefined || ready === all;
};

/** `Up 3 hours` is the same as `Up 2 days`. */
const dropTime = (name: string, value: string): string =>
  name === 'STATUS' ? value.replace(/^Up [^(]*/, 'Up ') : value;
