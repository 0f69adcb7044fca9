import { randomUUID } from 'node:crypto';
import { EXIT, SvcError } from '../../../engine/core/base/errors.ts';
import { formatCount, formatLocalTime, toPrintable } from '../../../engine/core/base/text.ts';
import type { Api } from '../../../engine/index.ts';
import { type Command, type CommandContext, defineCommand } from '../../command.ts';
import { formatFacts, formatRows } from '../../print.ts';

const sessionFlag = {
  session: { type: 'string', value: 'id', about: 'answer from the worktree of this session' },
} as const;
const limitFlag = {
  limit: { type: 'number', short: 'n', value: 'count', about: 'maximum number of results' },
} as const;
const projectFlag = { project: { type: 'string', value: 'id', about: 'a registered project' } } as const;
const symbolArg = [{ name: 'symbol', about: 'an id, a name, Class.method or file:name' }] as const;

interface AnswerState {
  empty: string | null;
  note: string | null;
  candidates: readonly string[];
  exact?: string | null;
}

/** Explains on standard error why an answer is empty or out of date. */
function noteState(
  context: Pick<CommandContext, 'note'>,
  { empty, note, candidates, exact }: AnswerState,
): void {
  if (empty !== null || note !== null)
    context.note(toPrintable([empty?.replaceAll('_', ' '), note].filter((each) => each != null).join(': ')));
  for (const each of candidates) context.note(`  ${toPrintable(each)}`);
  if (exact != null) context.note(`exact edges: ${toPrintable(exact)}`);
}

const index = defineCommand({
  name: 'graph index',
  about: 'bring the index of the code up to date',
  flags: {
    ...sessionFlag,
    ...projectFlag,
    full: { type: 'boolean', about: 'read every file again' },
    exact: { type: 'boolean', about: 'also use the project’s own TypeScript; needs graph.exact' },
  },
  examples: ['graph index', 'graph index --full', 'graph index --exact'],
  async run(context) {
    const client = await context.engine();
    const { session, project, full, exact } = context.flags;
    const isTerminal = context.stderr.isTTY === true;
    const done = await client.run(
      'graph.index',
      { full: full ?? false, exact: exact ?? false, session, project },
      {
        key: randomUUID(),
        signal: context.signal,
        onProgress: (message) => void (isTerminal && context.stderr.write(`\r\x1b[K${drawBar(message)}`)),
      },
    );
    if (isTerminal) context.stderr.write('\r\x1b[K');
    context.result(done, ({ read, removed, resolved, ms, exact: run }) => {
      const index = `${formatCount(read, 'file')} read, ${removed} removed, ${formatCount(resolved, 'file')} resolved in ${(ms / 1000).toFixed(1)} s`;
      return run === null ? index : `${index}\n${formatRun(run)}`;
    });
    return done.exact?.failed != null ? EXIT.failure : 0;
  },
});

type CompilerRun = NonNullable<Api['graph.index']['output']['exact']>;

/** Formats the outcome of the compiler in one line. */
function formatRun({ typescript, ms, peak_mb, raised, added, unconfined, failed }: CompilerRun): string {
  const by = typescript === null ? '' : `typescript ${toPrintable(typescript)}: `;
  const cost = `${(ms / 1000).toFixed(1)} s, ${peak_mb} MB`;
  const open = unconfined === null ? '' : `; without a sandbox: ${toPrintable(unconfined)}`;
  if (failed !== null) return `${by}${toPrintable(failed)}${typescript === null ? '' : ` (${cost})`}${open}`;
  return `${by}${formatCount(raised, 'edge')} raised, ${added} added in ${cost}${open}`;
}

const BAR = 24;

/** Formats `files read: 40 of 120` with a bar before it. */
function drawBar(message: string): string {
  const [, done, total] = /(\d+) of (\d+)/.exec(message) ?? [];
  const share = Number(total) > 0 ? Number(done) / Number(total) : 0;
  const full = Math.round(share * BAR);
  return `[${'#'.repeat(full)}${'.'.repeat(BAR - full)}] ${message}`;
}

const status = defineCommand({
  name: 'graph status',
  about: 'show what the code index covers, and what it leaves out',
  flags: { ...sessionFlag, ...projectFlag },
  examples: ['graph status'],
  async run(context) {
    const client = await context.engine();
    const found = await client.call('graph.status', {
      session: context.flags.session,
      project: context.flags.project,
    });
    const {
      files,
      symbols,
      edges,
      unresolved,
      skipped,
      languages,
      by_confidence,
      with_errors,
      at,
      exact,
      note,
    } = found;
    const joinCounts = (counts: Readonly<Record<string, number | undefined>>): string =>
      Object.entries(counts)
        .map(([name, count]) => `${name} ${count}`)
        .join(', ') || 'none';
    context.result(found, () =>
      formatFacts([
        ['files', String(files)],
        ['languages', joinCounts(languages)],
        ['symbols', String(symbols)],
        ['edges', `${edges} (${joinCounts(by_confidence)})`],
        [
          'exact edges',
          toPrintable(
            exact.lack ??
              (exact.files === 0
                ? 'no files that typescript reads'
                : `of ${formatCount(exact.files, 'file')}`),
          ),
        ],
        ...(exact.run === null ? [] : ([['last compiled', formatRun(exact.run)]] as [string, string][])),
        ['unresolved', String(unresolved)],
        ['with errors', String(with_errors)],
        ['left out', joinCounts(skipped)],
        ['as of', at === null ? 'never' : formatLocalTime(new Date(at).toISOString())],
      ]),
    );
    if (note !== null) context.note(note);
  },
});

const symbol = defineCommand({
  name: 'graph symbol',
  about: 'find symbols by part of their name',
  args: [{ name: 'name', about: 'at least three letters of the name, or the full name' }],
  flags: { ...sessionFlag, ...limitFlag },
  examples: ['graph symbol createServer', 'graph symbol parse -n 50'],
  async run(context) {
    const client = await context.engine();
    const { session, limit } = context.flags;
    const found = await client.call('graph.symbol', { query: context.arg(0), session, limit });
    const text = await formatRows(
      found.symbols,
      [
        { head: 'id', value: (each) => String(each.id), right: true },
        { head: 'kind', value: (each) => each.kind },
        { head: 'name', value: (each) => toPrintable(each.name) },
        { head: 'place', value: (each) => toPrintable(`${each.path}:${each.line}`), flexible: true },
      ],
      context.stdout,
    );
    context.result(found, () => text);
    noteState(context, found);
  },
});

type TraceResult = Api['trace.path']['output'];

const trace = defineCommand({
  name: 'graph trace',
  about: 'show what calls a symbol, and what it calls',
  args: symbolArg,
  flags: {
    ...sessionFlag,
    ...limitFlag,
    depth: { type: 'number', value: 'steps', about: 'number of steps, 1 to 5 (2)' },
    direction: {
      type: 'string',
      value: 'way',
      choices: ['callers', 'callees', 'both'],
      about: 'direction (both)',
    },
  },
  examples: ['graph trace createServer', 'graph trace src/app.ts:start --direction callers --depth 3'],
  async run(context) {
    const client = await context.engine();
    const { session, limit, depth, direction } = context.flags;
    const found = await client.call('trace.path', {
      symbol: context.arg(0),
      session,
      limit,
      depth,
      direction,
    });
    context.result(found, formatTrace);
    noteState(context, found);
  },
});

/** Formats edges as a tree: each step is below the symbol that it starts from, callers and callees separately. */
function formatTrace({ id, symbols, edges, mentions, hubs, more }: TraceResult): string {
  if (id === null) return '';
  const name = (each: number): string => toPrintable(symbols[each] ?? `#${each}`);
  const lines: string[] = [];
  const drawEdges = (heading: string, from: 'from' | 'to', to: 'from' | 'to'): void => {
    const drawn = new Set<number>();
    const below = (at: number, hop: number, indent: string): void => {
      const steps = edges.filter((edge) => edge[from] === at && edge.hop === hop);
      for (const [index, edge] of steps.entries()) {
        const isLast = index === steps.length - 1;
        const sure = edge.candidates === undefined ? '' : `, one of ${edge.candidates}`;
        lines.push(
          `${indent}${isLast ? '└ ' : '├ '}${name(edge[to])}  ${edge.kind}, line ${edge.line}, ${edge.confidence.toFixed(1)} by ${edge.strategy}${sure}`,
        );
        if (drawn.has(edge[to])) continue;
        drawn.add(edge[to]);
        below(edge[to], hop + 1, `${indent}${isLast ? '  ' : '│ '}`);
      }
    };
    const before = lines.length;
    below(id, 1, '  ');
    if (lines.length > before) lines.splice(before, 0, heading);
  };
  drawEdges('is called by', 'to', 'from');
  drawEdges('calls', 'from', 'to');
  if (mentions.length > 0) lines.push('is named by');
  for (const edge of mentions) lines.push(`  ${name(edge.from)}  ${edge.kind}, line ${edge.line}`);
  for (const hub of hubs) lines.push(`${name(hub.symbol)} has ${hub.total} in all; the surest 25 are shown`);
  if (more > 0) lines.push(`and ${formatCount(more, 'more edge')}: --limit shows them`);
  return [`#${id} ${name(id)}`, ...lines].join('\n');
}

const impact = defineCommand({
  name: 'graph impact',
  about: 'show what a change reaches: given paths, a range of commits, a session, or the uncommitted changes',
  args: [{ name: 'path', about: 'files or folders', rest: true, optional: true, completes: 'file' }],
  flags: {
    ...sessionFlag,
    ...limitFlag,
    range: { type: 'string', value: 'a..b', about: 'range of commits, instead of paths' },
  },
  examples: ['graph impact src/app.ts', 'graph impact --range main..HEAD', 'graph impact --session s-12'],
  async run(context) {
    const client = await context.engine();
    const { session, limit, range } = context.flags;
    const paths = [...context.args];
    if (paths.length > 0 && range !== undefined)
      throw new SvcError('usage', 'name paths or --range, not both');
    const isTerminal = context.stderr.isTTY === true;
    const found = await client.run(
      'impact',
      { ...(paths.length > 0 ? { paths } : {}), git_range: range, session, limit },
      {
        key: randomUUID(),
        signal: context.signal,
        onProgress: (message) => void (isTerminal && context.stderr.write(`\r\x1b[K${drawBar(message)}`)),
      },
    );
    if (isTerminal) context.stderr.write('\r\x1b[K');
    const text = await formatRows(
      found.reached,
      [
        { head: 'step', value: (each) => String(each.hop), right: true },
        { head: 'sure', value: (each) => each.confidence.toFixed(1), right: true },
        { head: 'reached', value: (each) => toPrintable(each.symbol), flexible: true },
        { head: 'through', value: (each) => toPrintable(each.through) },
        { head: 'test', value: (each) => (each.test ? 'test' : '-') },
      ],
      context.stdout,
    );
    context.result(found, () => text);
    if (found.files > 0) {
      context.note(`${formatCount(found.files, 'file')}: ${found.summary}`);
      for (const each of found.symbols) context.note(`  ${toPrintable(each)}`);
    }
    if (found.tests.length > 0)
      context.note(`tests: ${found.tests.map((each) => toPrintable(each)).join(', ')}`);
    if (found.more > 0) context.note(`and ${found.more} more: --limit shows them`);
    noteState(context, found);
  },
});

const architecture = defineCommand({
  name: 'graph architecture',
  about: 'show folders with their symbols, and the edges between them',
  flags: { ...sessionFlag },
  examples: ['graph architecture'],
  async run(context) {
    const client = await context.engine();
    const found = await client.call('architecture', { session: context.flags.session });
    const text = await formatRows(
      found.folders,
      [
        { head: 'folder', value: (each) => toPrintable(each.folder), flexible: true },
        { head: 'files', value: (each) => String(each.files), right: true },
        { head: 'symbols', value: (each) => String(each.symbols), right: true },
        { head: 'in', value: (each) => String(each.edges_in), right: true },
        { head: 'out', value: (each) => String(each.edges_out), right: true },
        { head: 'languages', value: (each) => each.languages.join(', ') },
      ],
      context.stdout,
    );
    const used = found.most_used.map(({ name, uses }) => `  ${toPrintable(name)}  ${uses}`);
    context.result(found, () =>
      [
        text.trimEnd(),
        ...(found.entry_points.length > 0
          ? ['', `entry points: ${found.entry_points.map((each) => toPrintable(each)).join(', ')}`]
          : []),
        ...(used.length > 0 ? ['', 'most used:', ...used] : []),
      ].join('\n'),
    );
    if (found.truncated) context.note('only the largest folders are shown');
    noteState(context, found);
  },
});

export const graphCommands: readonly Command[] = [index, status, symbol, trace, impact, architecture];
