import {
  agentPrograms,
  asSvcError,
  buildCreate,
  buildPush,
  buildView,
  chooseRemote,
  type EngineClient,
  formatAge,
  guessProgram,
  PULL_REQUEST_PROGRAMS,
  type PullRequestMaterial,
  type PullRequestProgram,
  quoteForShell,
  readCreated,
  readState,
  runProgram,
  SvcError,
  toPrintable,
  type Wire,
} from '../../engine/index.ts';
import { type Context, defineCommand } from '../command.ts';
import { formatFacts } from '../print.ts';
import { defineSessionArgument } from './session-argument.ts';

type Material = Wire<PullRequestMaterial>;
type Remote = Material['remotes'][number];

/** A code host may be slow, and a push long; what waits for a password that nobody types ends. */
const TIMEOUT_MS = 120_000;

const flags = {
  print: { type: 'boolean', about: 'only print the commands that would run' },
  state: { type: 'boolean', about: 'ask for the state of the pull request that there is' },
  remote: { type: 'string', value: 'name', about: 'push there; else origin, or the only remote' },
  program: {
    type: 'string',
    about: "what opens it; else by the remote's host, or the first that is installed",
    choices: PULL_REQUEST_PROGRAMS,
  },
  title: { type: 'string', value: 'text', about: "another title than the task's" },
} as const;

async function isInstalled(program: string, { env, cwd }: Pick<Context, 'env' | 'cwd'>): Promise<boolean> {
  const { findProgram } = await agentPrograms();
  return findProgram(program, { cwd, path: env.PATH }) !== undefined;
}

/** The remote to push to. Throws `usage` where several could be meant, and `not_found`. */
function findRemote({ remotes, session_id: id }: Material, wanted: string | undefined): Remote {
  const names = remotes.map(({ name }) => name).join(', ');
  const named = remotes.find(({ name }) => name === wanted);
  if (named !== undefined) return named;
  if (wanted !== undefined)
    throw new SvcError('not_found', `there is no remote ${JSON.stringify(wanted)}`, {
      hint: names === '' ? 'git remote add makes one' : `there are: ${names}`,
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

/** By the remote's host; where that does not tell, the first that is installed. */
async function findPullRequestProgram(
  { url }: Pick<Remote, 'url'>,
  wanted: PullRequestProgram | undefined,
  context: Pick<Context, 'env' | 'cwd'>,
): Promise<{ program: PullRequestProgram; isThere: boolean }> {
  const guessed = wanted ?? guessProgram(url);
  for (const program of guessed === null ? PULL_REQUEST_PROGRAMS : [guessed])
    if (await isInstalled(program, context)) return { program, isThere: true };
  return { program: guessed ?? 'gh', isThere: false };
}

const quoteWhereNeeded = (word: string): string =>
  /^[\w@%+=:,./-]+$/.test(word) ? word : quoteForShell(word);

const formatCommands = (material: Material, remote: string, program: PullRequestProgram): string[] =>
  [
    ['cd', material.repository],
    ['git', ...buildPush(material, remote)],
    [program, ...buildCreate(program, material)],
  ].map((words) => words.map(quoteWhereNeeded).join(' '));

/** Runs a program of the person's where the repository is, with their environment. Throws `failed` with what it printed. */
async function runStep(
  { env }: Pick<Context, 'env'>,
  repository: string,
  program: string,
  args: readonly string[],
): Promise<string> {
  const { exitCode, stdout, stderr, error } = await runProgram(program, args, {
    cwd: repository,
    env,
    timeoutMs: TIMEOUT_MS,
  });
  if (exitCode === 0) return `${stdout}\n${stderr}`;
  if (error !== null && 'code' in error && error.code === 'ENOENT')
    throw new SvcError('tool_missing', `${program} is not installed here`);
  const said = toPrintable((stderr.trim() || stdout.trim() || error?.message) ?? '', { lines: true });
  const how =
    exitCode === null ? `was ended (it may take ${TIMEOUT_MS / 1000} s)` : `exited with code ${exitCode}`;
  throw new SvcError(
    'program_failed',
    `${program} ${args.find((arg) => /^[a-z]/.test(arg) && !arg.includes('=')) ?? ''} ${how}: ${said}`,
    {
      data: { exit_code: exitCode, printed: `${stdout}\n${stderr}` },
    },
  );
}

async function openPullRequest(
  context: Context<typeof flags>,
  client: EngineClient,
  material: Material,
  { remote, program }: { remote: Remote; program: PullRequestProgram },
): Promise<number> {
  const { session_id: id, repository, branch, base, head } = material;
  context.note(toPrintable(`pushing ${branch} to ${remote.name} (${remote.url})`));
  await runStep(context, repository, 'git', buildPush(material, remote.name));
  let isThereAlready = false;
  const printed = await runStep(context, repository, program, buildCreate(program, material)).catch(
    (thrown: unknown) => {
      const error = asSvcError(thrown);
      const said = String(error.data.printed ?? '');
      // Somebody, or an attempt that was cut off, has opened it before: the push has brought it up to date.
      isThereAlready = /already exists/i.test(said) && readCreated(said) !== null;
      if (isThereAlready) return said;
      throw new SvcError(error.code, `${branch} was pushed, and ${error.message}`, {
        hint: `try it again with svc worktree pr ${id}; with --print it prints the commands`,
        data: error.data,
      });
    },
  );
  const made = readCreated(printed) ?? { number: null, url: null, state: null };
  const pull = await client.call('worktree.record_pr', {
    session: id,
    opened: { program, remote: remote.name, head },
    ...made,
  });
  context.result({ session_id: id, ...pull }, () =>
    formatFacts([
      [
        isThereAlready ? 'there' : 'opened',
        `${pull.number === null ? 'a pull request' : `#${pull.number}`}: ${branch} into ${base}`,
      ],
      ['url', pull.url],
      ['state', `svc worktree pr ${id} --state asks for it`],
    ]),
  );
  if (made.number === null)
    context.note(toPrintable(`${program} did not tell its number: ${printed.trim()}`, { lines: true }));
  return 0;
}

async function askForState(
  context: Context<typeof flags>,
  client: EngineClient,
  { session_id: id, repository, pull_request: pull }: Material,
): Promise<number> {
  if (pull === null)
    throw new SvcError('not_found', `${id} has no pull request`, { hint: `svc worktree pr ${id} opens one` });
  const { program, number } = pull;
  if (number === null)
    throw new SvcError('conflict', `the number of the pull request of ${id} is not known`, {
      hint: `${program} lists those that there are`,
    });
  const told = readState(await runStep(context, repository, program, buildView(program, number)), number);
  if (told === null)
    throw new SvcError('program_failed', `${program} told nothing of #${number} that could be read`);
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

export const pullRequest = defineCommand({
  name: 'worktree pr',
  about: "push a session's branch and open a pull request with gh, glab or tea; nothing else ever pushes",
  args: defineSessionArgument('session:ended'),
  flags,
  examples: ['worktree pr s-12', 'worktree pr s-12 --print', 'worktree pr s-12 --state'],
  async run(context) {
    const { print, state, remote: wanted, program: wantedProgram, title } = context.flags;
    const client = await context.engine();
    const found = await client.call('worktree.pr', { session: context.arg(0) });
    if (state) return askForState(context, client, found);
    const material = title === undefined ? found : { ...found, title: toPrintable(title) };
    const isWithoutRemote = material.remotes.length === 0 && wanted === undefined;
    const remote = isWithoutRemote ? { name: 'origin', url: '' } : findRemote(material, wanted);
    const { program, isThere } = await findPullRequestProgram(remote, wantedProgram, context);
    if (!print && isThere && !isWithoutRemote)
      return openPullRequest(context, client, material, { remote, program });
    const commands = formatCommands(material, remote.name, program);
    context.result({ ...material, remote: remote.name, program, commands }, () => commands.join('\n'));
    if (print) return 0;
    context.note(
      isWithoutRemote
        ? 'nothing was pushed: the repository has no remote; these are the commands once it has one'
        : `nothing was pushed: ${program} is not installed here; these are the commands`,
    );
    return 1;
  },
});
