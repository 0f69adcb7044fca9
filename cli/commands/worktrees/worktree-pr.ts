import { asSvcError, SvcError } from '../../../engine/core/base/errors.ts';
import { formatAge, quoteForShell, toPrintable } from '../../../engine/core/base/text.ts';
import {
  agentPrograms,
  askPullRequest,
  buildPullRequest,
  chooseRemote,
  type EngineClient,
  guessProgram,
  MISSING_REMOTE,
  PULL_REQUEST_PROGRAMS,
  type PullRequestMaterial,
  type PullRequestProgram,
  publishPullRequest,
  readWish,
  runPersonProgram,
  type WireValue,
} from '../../../engine/index.ts';
import { type CommandContext, defineCommand } from '../../command.ts';
import { askForYes } from '../../confirm.ts';
import { formatFacts } from '../../print.ts';
import { defineSessionArgument } from '../../sessions/session-argument.ts';

type Material = WireValue<PullRequestMaterial>;
type Remote = Material['remotes'][number];

const flags = {
  print: { type: 'boolean', about: 'only print the commands that would run' },
  state: { type: 'boolean', about: 'query the state of the existing pull request' },
  remote: { type: 'string', value: 'name', about: 'remote to push to (origin, or the only one)' },
  program: {
    type: 'string',
    about: "program to open it with (by the remote's host, or the first one installed)",
    choices: PULL_REQUEST_PROGRAMS,
  },
  title: { type: 'string', value: 'text', about: "title (the task's)" },
  yes: { type: 'boolean', short: 'y', about: 'push and open it without asking' },
} as const;

async function isInstalled(
  program: string,
  { env, cwd }: Pick<CommandContext, 'env' | 'cwd'>,
): Promise<boolean> {
  const { findProgram } = await agentPrograms();
  return findProgram(program, { cwd, path: env.PATH }) !== undefined;
}

/** Finds the remote to push to. Throws `usage` if it is ambiguous, and `not_found`. */
function findRemote({ remotes, session_id: id }: Material, wanted: string | undefined): Remote {
  const names = remotes.map(({ name }) => name).join(', ');
  const named = remotes.find(({ name }) => name === wanted);
  if (named !== undefined) return named;
  if (wanted !== undefined)
    throw new SvcError('not_found', `there is no remote ${JSON.stringify(wanted)}`, {
      hint: names === '' ? 'git remote add makes one' : `the remotes are: ${names}`,
    });
  const chosen = chooseRemote(remotes);
  if (chosen !== null) return chosen;
  if (remotes.length === 0)
    throw new SvcError('not_found', `the repository of ${id} has no remote to push to`, {
      hint: 'git remote add origin <address>, then again',
    });
  throw new SvcError(
    'usage',
    `${id} could be pushed to several remotes, and none is called origin: ${names}`,
    {
      hint: `svc worktree pr ${id} --remote ${quoteForShell(remotes[0]!.name)}`,
    },
  );
}

/** Chooses by the remote's host, or the first installed program if the host is unknown. */
async function findPullRequestProgram(
  remote: Remote,
  wanted: PullRequestProgram | undefined,
  context: Pick<CommandContext, 'env' | 'cwd'>,
): Promise<{ program: PullRequestProgram; isThere: boolean }> {
  const guessed = wanted ?? guessProgram(remote, context.env);
  for (const program of guessed === null ? PULL_REQUEST_PROGRAMS : [guessed])
    if (await isInstalled(program, context)) return { program, isThere: true };
  return { program: guessed ?? 'gh', isThere: false };
}

const quoteWhereNeeded = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : quoteForShell(word);

const formatCommands = (material: Material, remote: Remote, program: PullRequestProgram): string[] =>
  [['cd', material.repository], ...buildPullRequest(readWish(material), remote, program)].map((words) =>
    words.map(quoteWhereNeeded).join(' '),
  );

async function openPullRequest(
  context: CommandContext<typeof flags>,
  client: EngineClient,
  material: Material,
  { remote, program }: { remote: Remote; program: PullRequestProgram },
): Promise<number> {
  const { session_id: id, branch, base, head, push_to: pushTo } = material;
  const shownAs = pushTo === branch ? branch : `${branch} as ${pushTo}`;
  context.note(toPrintable(`pushing ${shownAs} to ${remote.name} (${remote.url})`));
  const former = material.pull_request;
  const made = await publishPullRequest(
    (tool, args) => runPersonProgram(context, material, tool, args),
    readWish(material),
    // A person who asks for it may know that an open one was closed at the code host.
    { remote, program, existing: former === null ? null : { ...former, state: null } },
  ).catch((thrown: unknown) => {
    const { code, message, data } = asSvcError(thrown);
    throw new SvcError(code, message, {
      hint: `try it again with svc worktree pr ${id}; with --print it prints the commands`,
      data,
    });
  });
  const { number, url, state, isNew, printed } = made;
  const pull = await client.call('worktree.record_pr', {
    session: id,
    opened: { program, remote: remote.name, branch: made.branch, head },
    ...{ number, url, state },
  });
  context.result({ session_id: id, ...pull }, () =>
    formatFacts([
      [
        isNew ? 'opened' : 'there',
        `${pull.number === null ? 'a pull request' : `#${pull.number}`}: ${made.branch} into ${base}`,
      ],
      ['url', pull.url],
      ['state', `svc worktree pr ${id} --state queries it`],
    ]),
  );
  if (number === null)
    context.note(toPrintable(`${program} did not print its number: ${printed.trim()}`, { lines: true }));
  return 0;
}

async function askForState(
  context: CommandContext<typeof flags>,
  client: EngineClient,
  material: Material,
): Promise<number> {
  const { session_id: id, pull_request: pull } = material;
  if (pull === null)
    throw new SvcError('not_found', `${id} has no pull request`, { hint: `svc worktree pr ${id} opens one` });
  const { program, number, remote: pushedTo } = pull;
  if (number === null)
    throw new SvcError('conflict', `the number of the pull request of ${id} is not known`, {
      hint: `${program} lists the existing ones`,
    });
  const told = await askPullRequest(
    (tool, args) => runPersonProgram(context, material, tool, args),
    { program, number },
    material.remotes.find(({ name }) => name === pushedTo) ?? null,
  );
  const known = await client.call('worktree.record_pr', { session: id, ...told });
  context.result({ session_id: id, ...known }, () =>
    formatFacts([
      ['pull request', `#${known.number} ${known.state ?? 'unknown'}`],
      ['url', known.url],
      ['asked', known.asked_at === null ? null : `${formatAge(known.asked_at)} ago`],
    ]),
  );
  return 0;
}

/** Shows what would run, and asks. Throws `usage` without a terminal. */
async function askBeforePush(
  context: CommandContext<typeof flags>,
  { name, url }: Remote,
  commands: readonly string[],
): Promise<boolean> {
  if (context.flags.yes) return true;
  if (!context.stdin.isTTY || context.json)
    throw new SvcError('usage', 'no terminal is available to ask on before the push', {
      hint: 'svc worktree pr <session> --print shows what would run; --yes agrees to it',
    });
  context.note(toPrintable(commands.join('\n'), { lines: true }));
  if (await askForYes(context, toPrintable(`Push to ${name} (${url}) and open it?`))) return true;
  context.note('nothing was pushed');
  return false;
}

/** Throws `conflict` if what was shown is no longer what would happen. */
function checkUnchanged(shown: Material, now: Material, remote: Remote): void {
  const address = now.remotes.find(({ name }) => name === remote.name)?.url;
  const isSame =
    address === remote.url && now.head === shown.head && now.title === shown.title && now.body === shown.body;
  if (isSame) return;
  throw new SvcError(
    'conflict',
    'the branch, its text or the address changed after it was shown; nothing was pushed',
    {
      hint: `svc worktree pr ${shown.session_id} shows what there is now`,
    },
  );
}

export const pullRequest = defineCommand({
  name: 'worktree pr',
  about: "push a session's branch and open a pull request with gh, glab or tea",
  args: defineSessionArgument('session:ended'),
  flags,
  examples: [
    'worktree pr s-12',
    'worktree pr s-12 --print',
    'worktree pr s-12 --yes',
    'worktree pr s-12 --state',
  ],
  async run(context) {
    const { print, state, remote: wanted, program: wantedProgram, title } = context.flags;
    const client = await context.engine();
    const found = await client.call('worktree.pr', { session: context.arg(0) });
    if (state) return askForState(context, client, found);
    const material = title === undefined ? found : { ...found, title: toPrintable(title) };
    const isWithoutRemote = material.remotes.length === 0 && wanted === undefined;
    const remote = isWithoutRemote ? MISSING_REMOTE : findRemote(material, wanted);
    const { program, isThere } = await findPullRequestProgram(remote, wantedProgram, context);
    const commands = formatCommands(material, remote, program);
    if (!print && isThere && !isWithoutRemote) {
      if (!(await askBeforePush(context, remote, commands))) return 1;
      // A worker may have written something while the person was reading.
      const now = await client.call('worktree.pr', { session: context.arg(0) });
      checkUnchanged(found, now, remote);
      return openPullRequest(context, client, { ...material, settings: now.settings }, { remote, program });
    }
    const { settings: _, ...shown } = material;
    context.result({ ...shown, remote: remote.name, program, commands }, () => commands.join('\n'));
    if (print) return 0;
    context.note(
      isWithoutRemote
        ? 'nothing was pushed: the repository has no remote; these are the commands once it has one'
        : `nothing was pushed: ${program} is not installed here; these are the commands`,
    );
    return 1;
  },
});
