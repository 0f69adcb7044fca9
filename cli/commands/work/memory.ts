import { SvcError } from '../../../engine/core/base/errors.ts';
import { formatAge, formatCount, formatLocalTime, toPrintable } from '../../../engine/core/base/text.ts';
import { type Api, type EngineClient, findMemoryEdits, writeMemoryText } from '../../../engine/index.ts';
import { parseMoment } from '../../arguments/moment.ts';
import { type Command, type CommandContext, defineCommand } from '../../command.ts';
import { definePageFlags, outputFlags, showPage } from '../../pages.ts';

const idArg = [{ name: 'id', about: 'id of the memory, or a unique prefix' }] as const;
const typeFlag = {
  type: {
    type: 'string',
    short: 't',
    value: 'word',
    about: 'decision, convention, fact, gotcha, procedure, preference, todo or another type',
  },
} as const;
const limitFlag = {
  limit: { type: 'number', short: 'n', value: 'count', about: 'maximum number of results' },
} as const;

interface ShownMemory {
  id: string;
  type: string;
  title: string;
  text: string;
  age: string;
  unreviewed?: string;
  maybe_replaced_by?: string;
  missing_paths?: string[];
  unknown_symbols?: string[];
}

const indent = (text: string): string =>
  toPrintable(text, { lines: true })
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n');

function formatMemory(each: ShownMemory): string {
  const doubt = each.unreviewed === undefined ? '' : '; not reviewed';
  const replaced =
    each.maybe_replaced_by === undefined ? '' : `; perhaps replaced by ${each.maybe_replaced_by}`;
  const missing =
    each.missing_paths === undefined ? '' : `; no longer there: ${each.missing_paths.join(', ')}`;
  const unknown =
    each.unknown_symbols === undefined ? '' : `; not in the code graph: ${each.unknown_symbols.join(', ')}`;
  const facts = `${each.type}, ${each.age} old${replaced}${doubt}${toPrintable(missing + unknown)}`;
  const head = `${each.id} ${toPrintable(each.title)} (${facts})`;
  return `${head}\n${indent(each.text)}`;
}

const add = defineCommand({
  name: 'memory add',
  about: 'remember something for later sessions',
  args: [{ name: 'text', about: 'one thing, with its reason; several words need no quotes', rest: true }],
  flags: {
    ...typeFlag,
    title: { type: 'string', value: 'text', about: 'title (its first line)' },
    tags: { type: 'string', value: 'a,b', about: 'separated by commas' },
    source: { type: 'string', value: 'text', about: 'where it comes from' },
  },
  examples: ['memory add -t gotcha "npm ci empties node_modules first"'],
  async run(context) {
    const client = await context.engine();
    const { type, title, tags, source } = context.flags;
    const text = context.args.join(' ');
    const done = await client.call('memory.remember', { text, type, title, tags, source });
    context.result(done, ({ id, is_new }) => (is_new ? `remembered as ${id}` : `${id} already says this`));
    if (done.redacted.length > 0) context.note(`redacted: ${done.redacted.join(', ')}`);
    if (done.conflicts.length > 0)
      context.note(`same title, different text: ${done.conflicts.join(', ')}; svc memory conflicts`);
    if (done.replaces !== undefined)
      context.note(
        `does this replace ${done.replaces.join(', ')}? svc memory forget <id> for each, or svc memory keep <id>`,
      );
  },
});

const recall = defineCommand({
  name: 'memory recall',
  about: 'find memories about something, best first',
  args: [{ name: 'words', about: 'a question, identifiers, paths, error codes', rest: true }],
  flags: {
    ...typeFlag,
    ...limitFlag,
    since: {
      type: 'string',
      value: 'when',
      about: 'only of that time or later: an age such as 30d, or a date',
    },
    until: { type: 'string', value: 'when', about: 'only of earlier times' },
    order: {
      type: 'string',
      about: 'order of the results (relevance)',
      choices: ['relevance', 'newest', 'oldest'],
    },
  },
  examples: ['memory recall why not sqlite', 'memory recall ECONNRESET -n 3'],
  async run(context) {
    const client = await context.engine();
    const { type, limit, since, until, order } = context.flags;
    const { memories, only_nearest: isDoubtful } = await client.call('memory.recall', {
      query: context.args.join(' '),
      type,
      limit,
      since: since === undefined ? undefined : parseMoment(since, 'since'),
      until: until === undefined ? undefined : parseMoment(until, 'until'),
      order,
    });
    if (isDoubtful === true) context.note('nothing about this; nearest:');
    context.result(memories, (found) => found.map((each) => formatMemory(each)).join('\n'));
    if (memories.length === 0) context.note('nothing is remembered about it');
  },
});

const list = defineCommand({
  name: 'memory list',
  about: 'list memories, newest first',
  flags: { ...typeFlag, ...definePageFlags(50) },
  examples: ['memory list', 'memory list -t decision'],
  async run(context) {
    const client = await context.engine();
    const { type } = context.flags;
    await showPage(context, {
      standard: 50,
      fetch: async (part) => (await client.call('memory.list', { type, ...part })).memories,
      async count() {
        const { memories, more } = await client.call('memory.list', { type, limit: 1 });
        return memories.length + more;
      },
      getId: (each) => each.id,
      columns: [
        { head: 'id', value: (each) => each.id },
        { head: 'type', value: (each) => each.type },
        { head: 'age', value: (each) => each.age, right: true },
        {
          head: 'review',
          value: (each) => (each.unreviewed === undefined ? '-' : 'waits'),
          style: (each) => (each.unreviewed === undefined ? undefined : 'warn'),
        },
        { head: 'title', value: (each) => each.title, flexible: true },
      ],
      empty: 'nothing is remembered',
    });
  },
});

const show = defineCommand({
  name: 'memory show',
  about: 'show one memory in full, in any state',
  args: idArg,
  flags: outputFlags,
  examples: ['memory show m-4f9'],
  async run(context) {
    const client = await context.engine();
    const found = await client.call('memory.show', { id: context.arg(0) });
    context.result(found, (each) =>
      [
        context.paint('strong', `${each.id} ${toPrintable(each.title)}`),
        `${each.type}, ${each.state}${each.superseded_by === null ? '' : ` by ${each.superseded_by}`}, ${formatAge(each.changed_at)} old`,
        `stored by ${toPrintable(each.session_id ?? each.actor)}${each.task_id === null ? '' : ` for ${each.task_id}`}`,
        ...(each.unreviewed === null ? [] : [`waits for a person: ${each.unreviewed}`]),
        ...(each.tags.length === 0 ? [] : [`tags: ${toPrintable(each.tags.join(', '))}`]),
        '',
        toPrintable(each.text, { lines: true }),
      ].join('\n'),
    );
  },
});

/** Opens title and text in the person's editor; null if nothing has changed. */
async function editOnTerminal(
  { env, stdout }: Pick<CommandContext, 'env' | 'stdout'>,
  client: EngineClient,
  wanted: string,
): Promise<Api['memory.edit']['output'] | null> {
  const before = await client.call('memory.show', { id: wanted });
  const { id, state } = before;
  // The engine checks this too, but only after the text was edited.
  if (state !== 'active')
    throw new SvcError('conflict', `${id} is ${state} already`, {
      hint: 'svc memory add remembers it again',
    });
  const { editText } = await import('../../../tui/editor.ts');
  const edited = await editText(writeMemoryText(before), `${id}.md`, env);
  const edits = findMemoryEdits(before, edited);
  if (edits === null) return null;
  try {
    return await client.call('memory.edit', { id, ...edits });
  } catch (error) {
    // The file is gone; its text must not be lost.
    stdout.write(`${toPrintable(edited, { lines: true })}\n`);
    throw error;
  }
}

const edit = defineCommand({
  name: 'memory edit',
  about: 'reword a memory, in $VISUAL or $EDITOR unless flags are given; the old one is superseded',
  args: idArg,
  flags: {
    ...typeFlag,
    text: { type: 'string', value: 'text', about: 'new text' },
    title: { type: 'string', value: 'text', about: 'new title' },
    tags: { type: 'string', value: 'a,b', about: 'new tags' },
  },
  examples: ['memory edit m-4f9', 'memory edit m-4f9 --text "Only for Linux."'],
  async run(context) {
    const { type, text, title, tags } = context.flags;
    const isGiven = [type, text, title, tags].some((value) => value !== undefined);
    const client = await context.engine();
    const id = context.arg(0);
    const done = isGiven
      ? await client.call('memory.edit', { id, type, text, title, tags })
      : await editOnTerminal(context, client, id);
    if (done === null) return context.note(`${id} is unchanged`);
    context.result(done, ({ memory }) => `replaced by ${memory.id}`);
  },
});

const forget = defineCommand({
  name: 'memory forget',
  about: 'forget a memory; it can still be read with show',
  args: idArg,
  examples: ['memory forget m-4f9'],
  async run(context) {
    const client = await context.engine();
    const done = await client.call('memory.forget', { id: context.arg(0) });
    context.result(done, ({ id, state }) => `${id} is ${state}`);
  },
});

const conflicts = defineCommand({
  name: 'memory conflicts',
  about:
    'list memories with the same title and different texts; with --keep one of them supersedes the others',
  flags: { keep: { type: 'string', value: 'id', about: 'the memory to keep' } },
  examples: ['memory conflicts', 'memory conflicts --keep m-4f9'],
  async run(context) {
    const client = await context.engine();
    const { keep } = context.flags;
    if (keep !== undefined) {
      const done = await client.call('memory.settle', { id: keep });
      return context.result(done, ({ memory, superseded }) =>
        superseded.length === 0
          ? `nothing contradicts ${memory.id}`
          : `${memory.id} supersedes ${superseded.join(', ')}`,
      );
    }
    const { conflicts: found } = await client.call('memory.conflicts');
    context.result(found, (groups) =>
      groups
        .map((group) => (group.memories as ShownMemory[]).map((each) => formatMemory(each)).join('\n'))
        .join('\n\n'),
    );
    if (found.length === 0) context.note('no conflicts');
  },
});

const review = defineCommand({
  name: 'memory review',
  about: 'list memories that a person must keep before they enter a brief, oldest first',
  flags: definePageFlags(100),
  examples: ['memory review'],
  async run(context) {
    const client = await context.engine();
    let shown = 0;
    await showPage(context, {
      standard: 100,
      async fetch(part) {
        const found = await client.call('memory.review', part);
        shown = found.length;
        return found;
      },
      count: () => client.call('memory.count_review', {}),
      getId: (each) => each.id,
      format: (rows, paint) =>
        rows
          .map(
            (each) =>
              `${paint('strong', `${each.id} ${toPrintable(each.title)}`)} (${toPrintable(each.unreviewed ?? '')})\n${indent(each.text)}`,
          )
          .join('\n'),
      empty: 'nothing waits',
    });
    if (shown > 0) context.note('svc memory keep <id>, or svc memory forget <id>');
  },
});

const keep = defineCommand({
  name: 'memory keep',
  about:
    'keep a memory that waits for a person, or that a newer one may replace: it is true and may enter briefs',
  args: idArg,
  examples: ['memory keep m-4f9'],
  async run(context) {
    const client = await context.engine();
    const done = await client.call('memory.keep', { id: context.arg(0) });
    context.result(done, ({ id }) => `${id} is kept`);
  },
});

const brief = defineCommand({
  name: 'memory brief',
  about: 'show the memories that a worker received at the start of its run, and their cost in tokens',
  args: [{ name: 'session', about: 'session of the worker (the latest)', optional: true }],
  examples: ['memory brief', 'memory brief s-12'],
  async run(context) {
    const client = await context.engine();
    const found = await client.call('memory.brief', { session: context.args[0] });
    context.result(found, ({ session_id, task_id, at, tokens, bytes, memories }) =>
      [
        `${formatCount(memories.length, 'memory', 'memories')}, about ${formatCount(tokens, 'token')} (${bytes} bytes), to ${session_id} for ${task_id}, ${formatLocalTime(at)}`,
        ...memories.map((each) => `${each.id} ${toPrintable(each.title)}`),
      ].join('\n'),
    );
  },
});

const sweep = defineCommand({
  name: 'memory sweep',
  about: 'expire memories older than memory.retention_days for their type',
  examples: ['memory sweep'],
  async run(context) {
    const client = await context.engine();
    const done = await client.call('memory.sweep');
    context.result(done, ({ expired }) => `expired: ${expired.length === 0 ? 'none' : expired.join(', ')}`);
  },
});

const dirArg = [
  {
    name: 'folder',
    about: 'folder in the workspace or a project, for a worker below its worktree (memory.okf_dir)',
    optional: true,
  },
] as const;

const exportBundle = defineCommand({
  name: 'memory export',
  about: 'write the memories as a folder of OKF 0.2 markdown, replacing an earlier export',
  args: dirArg,
  flags: {
    all: { type: 'boolean', about: 'include forgotten, expired and superseded ones' },
    ...limitFlag,
  },
  examples: ['memory export', 'memory export docs/knowledge --all'],
  async run(context) {
    const client = await context.engine();
    const { all, limit } = context.flags;
    const done = await client.call('memory.export', { dir: context.args[0], all, limit });
    context.result(done, ({ dir, memories }) => `${memories} in ${dir}`);
  },
});

const importBundle = defineCommand({
  name: 'memory import',
  about: 'import a folder of OKF markdown; an unchanged export changes nothing',
  args: dirArg,
  examples: ['memory import docs/knowledge'],
  async run(context) {
    const client = await context.engine();
    const done = await client.call('memory.import', { dir: context.args[0] });
    context.result(
      done,
      ({ added, replaced, unchanged }) => `added ${added}, replaced ${replaced}, unchanged ${unchanged}`,
    );
    for (const { path, reason } of done.skipped) context.note(toPrintable(`skipped ${path}: ${reason}`));
    if (done.more_skipped > 0) context.note(`and ${done.more_skipped} more files skipped`);
    if (done.redacted.length > 0) context.note(`redacted: ${done.redacted.join(', ')}`);
  },
});

export const memoryCommands: readonly Command[] = [
  add,
  recall,
  list,
  show,
  edit,
  forget,
  conflicts,
  review,
  keep,
  brief,
  sweep,
  exportBundle,
  importBundle,
];
