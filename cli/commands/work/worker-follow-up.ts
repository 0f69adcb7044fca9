import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { SvcError } from '../../../engine/core/base/errors.ts';
import { toPrintable } from '../../../engine/core/base/text.ts';
import { type EngineClient, writeFollowUpMessage } from '../../../engine/index.ts';
import { readPrompt } from '../../arguments/prompt.ts';
import { type CommandContext, defineCommand, type FlagTable } from '../../command.ts';
import { askForLine } from '../../confirm.ts';
import { defineSessionArgument } from '../../sessions/session-argument.ts';

const followUpFlags = {
  file: { type: 'string', value: 'path', about: 'file with the instructions' },
  comments: { type: 'boolean', about: 'send the comments on its diff; each is sent once' },
  conflicts: { type: 'boolean', about: 'merge its base into its branch, and resolve the conflicts' },
  base: { type: 'string', value: 'branch', about: 'with --conflicts: merge this branch' },
  timeout: { type: 'number', value: 'seconds', about: 'time limit of the run' },
  outside: {
    type: 'boolean',
    about: 'run without its earlier sandbox, in a new conversation, if guard.profile is no longer strict',
  },
} as const satisfies FlagTable;

type FollowUpContext = CommandContext<typeof followUpFlags>;

/** The parts of a follow-up. */
interface FollowUpMessage {
  prompt: string;
  /** Ids of the comments that it includes. */
  comments: number[];
}

export const followUp = defineCommand({
  name: 'worker follow-up',
  about: 'give a finished session more work (same worktree and conversation)',
  args: [
    ...defineSessionArgument('session:ended'),
    {
      name: 'words',
      about: 'the instructions; - reads standard input; without any, $VISUAL or $EDITOR opens',
      rest: true,
      optional: true,
    },
  ],
  flags: followUpFlags,
  examples: [
    'worker follow-up s-12 "Add a test for the empty list"',
    'worker follow-up s-12 --file review.md',
    'worker follow-up s-12 --comments',
    'worker follow-up s-12 --conflicts',
  ],
  async run(context) {
    const { timeout, outside, comments, conflicts, base } = context.flags;
    const session = context.arg(0);
    if (base !== undefined && !conflicts)
      throw new SvcError('usage', '--base needs --conflicts', {
        hint: 'add --conflicts',
      });
    const message =
      comments || conflicts ? await collectMessage(context) : await readFollowUpMessage(context);
    if (message === null) {
      context.note('nothing was started');
      return 1;
    }
    const client = await context.engine();
    const answer = await client.call('worker.follow_up', {
      session,
      ...message,
      ...(timeout === undefined ? {} : { timeout_sec: timeout }),
      ...(outside ? { outside } : {}),
    });
    context.result(
      answer,
      ({ task, session: next }) => `${next.session_id} continues ${session} (task ${task.task_id})`,
    );
    return 0;
  },
});

/** Collects comments and conflicts into one message, which a person at a terminal reads before it is sent. */
async function collectMessage(context: FollowUpContext): Promise<FollowUpMessage | null> {
  const { args, flags, env, stdin, stdout, stderr } = context;
  const words = args.length > 1 || flags.file !== undefined ? await readWords(context) : '';
  const { prompt, comments } = await collectMaterial(await context.engine(), { args, flags, words });
  if (!(stdin.isTTY && stdout.isTTY)) return { prompt, comments };
  let text = prompt;
  for (;;) {
    stderr.write(`${toPrintable(text, { lines: true }).trimEnd()}\n\n`);
    const answer = await askForLine(context, 'Send this? It spends tokens. [y/N, e edits it first]');
    if (/^y(?:es)?$/i.test(answer)) return { prompt: text, comments };
    if (!/^e(?:dit)?$/i.test(answer)) return null;
    const { editText } = await import('../../../tui/editor.ts');
    text = await editText(text, `${context.arg(0)}.md`, env);
    if (text.trim() === '') return null;
  }
}

async function collectMaterial(
  client: EngineClient,
  { args, flags, words }: Pick<FollowUpContext, 'args' | 'flags'> & { words: string },
): Promise<FollowUpMessage> {
  const { comments: wantsComments, conflicts: wantsConflicts, base } = flags;
  const { session_id: session, branch } = await client.call('session.show', { session: args[0] ?? '' });
  const comments = wantsComments ? (await client.call('comment.list', { session })).comments : [];
  if (wantsComments && comments.length === 0)
    throw new SvcError('not_found', `${session} has no comments`, {
      hint: `svc worker comment ${session} <path>:<line> "…" writes one`,
    });
  const trial = wantsConflicts
    ? await client.call('worktree.trial', { session, ...(base === undefined ? {} : { base }) })
    : null;
  if (trial !== null && trial.conflicts.length === 0)
    throw new SvcError('conflict', `${session} has no conflicts with ${trial.base}`, {
      hint: `svc merge ${session}`,
    });
  const prompt = writeFollowUpMessage(
    {
      session,
      branch,
      comments,
      conflict: trial === null ? null : { base: trial.base, paths: trial.conflicts },
    },
    words,
  );
  return { prompt, comments: comments.map((each) => each.comment_id) };
}

/** Reads the instructions for an ended session: from a file, its arguments or standard input. */
async function readWords({
  args,
  flags,
  cwd,
  stdin,
}: Pick<FollowUpContext, 'args' | 'flags' | 'cwd' | 'stdin'>): Promise<string> {
  const words = args.slice(1).join(' ');
  const { file } = flags;
  if (file === undefined) return readPrompt(words, stdin);
  if (words !== '') throw new SvcError('usage', 'give either the instructions or --file, not both');
  const path = resolve(cwd, file);
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new SvcError('usage', `${path} could not be read: ${(error as Error).message}`);
  }
}

/** Like `readWords`, but opens the person's editor if nothing is given. */
async function readFollowUpMessage(context: FollowUpContext): Promise<FollowUpMessage> {
  const { args, flags, env, stdin, stdout } = context;
  const session = context.arg(0);
  if (args.length > 1 || flags.file !== undefined) return { prompt: await readWords(context), comments: [] };
  if (!(stdin.isTTY && stdout.isTTY))
    throw new SvcError('usage', 'no instructions, and no terminal to write them on', {
      hint: `svc worker follow-up ${session} - reads it from standard input`,
    });
  const { editText } = await import('../../../tui/editor.ts');
  const text = await editText('', `${session}.md`, env);
  if (text.trim() === '') throw new SvcError('usage', 'nothing was written, so nothing was started');
  return { prompt: text, comments: [] };
}
