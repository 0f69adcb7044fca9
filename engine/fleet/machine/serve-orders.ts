import { existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { chooseStrongerProfile } from '../../core/access/guard-profile.ts';
import { asSvcError, SvcError } from '../../core/base/errors.ts';
import { findOnPath } from '../../core/base/find-program.ts';
import { isInsideFolder } from '../../core/base/paths.ts';
import { makePrivateFolder } from '../../core/base/private-files.ts';
import { createKeyedQueue } from '../../core/base/serial-queue.ts';
import { appendLogCopy, findTailOffset } from '../../workers/runner/processes/index.ts';
import type { RunExit, RunName } from '../../workers/runner/runs/index.ts';
import { SESSION_PREFIX } from '../../workers/runner/worktrees/index.ts';
import type { LocalPlacement } from '../../workers/sessions/index.ts';
import { nameSnapshot, orders, RECEIVED, streams, type WirePlacement } from '../messages.ts';
import type { LinkHandlers } from '../wire/index.ts';
import type { BoardLink } from './board-link.ts';
import type { MachineRunnerParts } from './compose-runner.ts';
import { createFollowedRuns } from './followed-runs.ts';
import type { GatewayPorts } from './gateway-ports.ts';
import { readUptimeMs } from './lease.ts';
import type { MachineFolders } from './machine-folders.ts';
import type { OwnRules } from './own-rules.ts';
import { listRecordedRuns, listRunsOf, readRunRecord, writeRunRecord } from './run-records.ts';
import { sendLog } from './send-log.ts';
import type { CheckServer } from './serve-checks.ts';
import { checkAgentCommand, checkTrusted } from './trusted-commands.ts';

interface Deps extends MachineRunnerParts {
  folders: MachineFolders;
  ports: GatewayPorts;
  env: NodeJS.ProcessEnv;
  /** Reads the PATH of `env` again. */
  refreshPath(): Promise<void>;
  /** Of this machine's own person. */
  rules: OwnRules;
  /** Ends all runs of this machine. */
  endAll(graceMs: number): void;
  /** Ends this runner, and removes its folders. */
  leave(): void;
  checks: Pick<CheckServer, 'check'>;
  /** Called when the first order of a run has come. */
  onBegun(): void;
  /** True if the board has no shell here: its commands need the agreement of this machine's person. */
  mustTrust: boolean;
}

/** How much later than the board this machine ends a run at its time limit, ms. */
const LATE_MS = 60_000;

type OrderOf<Name extends keyof typeof orders> = z.infer<(typeof orders)[Name]>;
type Profile = string | null;
type StartOrder = Parameters<MachineRunnerParts['runner']['start']>[0];

const probeInput = z.object({ programs: z.array(z.string().min(1).max(4096)).max(500) });

/** Parses what the board has sent. Throws `fields_invalid`. */
function parseInput<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
  what: string,
): z.output<Schema> {
  const { success, data, error } = schema.safeParse(input);
  if (success) return data;
  throw new SvcError('fields_invalid', `the order ${what} is invalid: ${error.issues[0]?.path.join('.')}`);
}

/** Serves the orders of the board with the runner of this machine. */
export function createOrderServer(deps: Deps) {
  const { folders, runner, worktrees, transfers, ports, env, rules } = deps;
  const { agents: agentsDir, mirrors } = folders;
  const followed = createFollowedRuns(runner, agentsDir);
  /** The stronger of the ordered profile and that of this machine's person. */
  const raiseProfile = (profile: Profile): string => chooseStrongerProfile(profile ?? 'none', rules.profile);
  /** The profile that a session was started with, which stays for its life. */
  const findProfile = (id: string, ordered: Profile): Profile =>
    listRunsOf(agentsDir, id).some((run) => readRunRecord(agentsDir, run)?.profile === 'strict')
      ? 'strict'
      : ordered;
  const findLogEnd = (sessionId: string): number => findTailOffset(join(agentsDir, sessionId, 'log'), 0);
  function startLogAt(sessionId: string, from: number): void {
    makePrivateFolder(agentsDir, join(agentsDir, sessionId));
    appendLogCopy(join(agentsDir, sessionId, 'log'), { from, bytes: Buffer.alloc(0) });
  }
  const mirrorOf = (repository: string): string => join(mirrors, repository);

  /** Returns the end of a session's branch, with the newest commits of a confined worker; null for none. */
  const findTip = async (mirror: string, branch: string): Promise<string | null> =>
    existsSync(mirror) ? worktrees.findHead(mirror, branch) : null;

  /** The board names its environment files and never sends them; this machine may have its own. */
  function withOwnFiles(setup: OrderOf<'prepare'>['setup']) {
    const own = rules.env[setup.id];
    return own === undefined ? { ...setup, envFiles: [] } : { ...setup, folder: own };
  }

  /** Reads a placement as this machine sees it. Throws `path_outside` for a folder that is not a worktree of ours. */
  function placeHere(placement: WirePlacement): LocalPlacement {
    for (const path of [placement.worktree, placement.cwd])
      if (!isInsideFolder(folders.worktrees, path) || path.includes('/../'))
        throw new SvcError('path_outside', `${path} is not a worktree of this runner`);
    return { ...placement, repository: mirrorOf(placement.repository) };
  }

  function placeThere(placement: LocalPlacement): WirePlacement {
    const { repository, worktree, branch, baseCommit } = placement;
    if (repository === null || worktree === null || branch === null || baseCommit === null)
      throw new SvcError('internal', 'a session on another machine always has a worktree');
    return { ...placement, repository: repository.slice(mirrors.length + 1), worktree, branch, baseCommit };
  }

  /** Makes and removes the worktree of a session in turn. */
  const inTurn = createKeyedQueue();
  /** Give up the worktrees that are being made, by session. */
  const placing = new Map<string, AbortController>();

  async function place({ logFrom, ...order }: OrderOf<'place'>, signal: AbortSignal) {
    const { origin, sessionId } = order;
    deps.onBegun();
    if (findLogEnd(sessionId) < logFrom) startLogAt(sessionId, logFrom);
    const placed = await runner.place({
      ...order,
      origin:
        origin === null
          ? null
          : {
              ...origin,
              repository: mirrorOf(origin.repository),
              folder: mirrorOf(origin.repository),
              inplace: false,
            },
      placement: order.placement && placeHere(order.placement),
      former: order.former && placeHere(order.former),
      takenPorts: [],
      signal,
    });
    return { ...placed, placement: placeThere(placed.placement) };
  }

  async function start(order: OrderOf<'start'>) {
    const { run, agent, timeoutSec } = order;
    if (rules.agents !== null && !rules.agents.includes(agent))
      throw new SvcError('agent_not_found', `the person of this machine does not allow ${agent}`);
    if (deps.mustTrust) checkAgentCommand(agent, order.command, env);
    const profile = raiseProfile(order.profile);
    const gateway = order.gateway as StartOrder['gateway'];
    const port =
      gateway === null ? null : await ports.open(run, readRunRecord(agentsDir, run)?.gatewayPort ?? null);
    if (existsSync(join(agentsDir, run.sessionId, run.runId)))
      writeRunRecord(agentsDir, run, {
        ...{ profile, gatewayPort: port, endedBy: null },
        limitAt: readRunRecord(agentsDir, run)?.limitAt ?? readUptimeMs() + timeoutSec * 1000 + LATE_MS,
      });
    const { GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email } = order.author;
    // Of the commit that keeps what the worker leaves uncommitted.
    if (name !== undefined && email !== undefined)
      await transfers.setAuthor(mirrorOf(order.placement.repository), { name, email });
    return runner.start({
      ...order,
      profile,
      placement: placeHere(order.placement),
      gateway: gateway === null ? null : { ...gateway, url: `http://127.0.0.1:${port}` },
    });
  }

  /** Adds why this machine has ended a run without an order. */
  function explainExit(run: RunName, exit: RunExit): RunExit {
    const endedBy = readRunRecord(agentsDir, run)?.endedBy ?? null;
    return endedBy === null ? exit : { ...exit, endedBy };
  }

  async function saveUncommitted({ repository, branch, sessionId, number, message }: OrderOf<'snapshot'>) {
    const mirror = mirrorOf(repository);
    const path = join(folders.worktrees, branch.slice(SESSION_PREFIX.length));
    const ref = nameSnapshot(branch, sessionId, number);
    const commit = existsSync(path) ? await worktrees.snapshot({ path, branch, ref, message }) : null;
    return { tip: await findTip(mirror, branch), commit };
  }

  /** Removes a worktree whose work the board has, and its branch in the mirror. */
  async function removeWorktree({ session, placement, confirmed }: OrderOf<'clear'>): Promise<string[]> {
    const { worktree, repository, branch } = placeHere(placement);
    if (worktree === null || !existsSync(worktree)) return [];
    const tip = await findTip(repository ?? '', branch ?? '');
    if (tip !== confirmed)
      return [`${worktree} was kept: its branch has commits that have not arrived on the engine’s machine`];
    await discardWorktree(session.sessionId, {
      repository: repository ?? '',
      branch: branch ?? '',
      worktree,
    });
    return [];
  }

  async function discardWorktree(
    sessionId: string,
    place: { repository: string; branch: string; worktree: string },
  ): Promise<void> {
    // The mirror keeps what was removed under its own refs.
    await worktrees.discard({ ...place, record: async () => undefined });
    // The board has its log, and nothing resumes it any more.
    rmSync(join(agentsDir, sessionId), { recursive: true, force: true });
  }

  /** Removes a worktree whose order was never answered, since the connection was lost. Nothing has run in it. */
  async function removeUnplaced(sessionId: string): Promise<void> {
    const worktree = join(folders.worktrees, sessionId);
    if (!existsSync(worktree) || listRunsOf(agentsDir, sessionId).length > 0) return;
    const entry = join('.git/worktrees', sessionId);
    const repository = readdirSync(mirrors)
      .map(mirrorOf)
      .find((mirror) => existsSync(join(mirror, entry)));
    // Without an entry git had not begun with it.
    if (repository === undefined) rmSync(worktree, { recursive: true, force: true });
    else await discardWorktree(sessionId, { repository, branch: `${SESSION_PREFIX}${sessionId}`, worktree });
  }

  /** Leaves out teardown commands that this machine's person has not agreed to. */
  function allowTeardown(setup: OrderOf<'clear'>['setup']) {
    try {
      if (deps.mustTrust) checkTrusted(`the teardown of ${setup.id}`, setup.teardown, env);
      return { setup, problem: null };
    } catch (error) {
      return { setup: { ...setup, teardown: [] }, problem: asSvcError(error).message };
    }
  }

  async function clear(order: OrderOf<'clear'>): Promise<string[]> {
    const { session, placement } = order;
    const { setup, problem } = allowTeardown(order.setup);
    const cleared = await runner.clear({ session, setup, placement: placeHere(placement) });
    const problems = problem === null ? cleared : [problem, ...cleared];
    try {
      return [...problems, ...(await removeWorktree(order))];
    } catch (error) {
      return [...problems, `${placement.worktree} was kept: ${asSvcError(error).message}`];
    }
  }

  const calls: Record<
    string,
    (input: unknown, context: Parameters<LinkHandlers['onCall']>[2]) => Promise<unknown>
  > = {
    async place(input, call) {
      const order = parseInput(orders.place, input, 'place');
      const { sessionId } = order;
      // When only the link ends, the same order comes again.
      const isCancelled = (): boolean =>
        call.signal.aborted && asSvcError(call.signal.reason).code === 'cancelled';
      call.signal.addEventListener('abort', () => {
        if (isCancelled()) placing.get(sessionId)?.abort();
      });
      return inTurn(sessionId, async () => {
        if (isCancelled()) throw call.signal.reason;
        const givingUp = new AbortController();
        placing.set(sessionId, givingUp);
        return place(order, givingUp.signal).finally(() => placing.delete(sessionId));
      });
    },
    async prepare(input) {
      const order = parseInput(orders.prepare, input, 'prepare');
      if (deps.mustTrust) checkTrusted(`the setup of ${order.setup.id}`, order.setup.setup, env);
      const setup = withOwnFiles(order.setup);
      const profile = raiseProfile(order.profile);
      const placement = placeHere(order.placement);
      const prepared = await runner.prepare({ ...order, profile, setup, placement });
      // A repeated call comes after the start, which has recorded more.
      if (readRunRecord(agentsDir, order.run) === null)
        writeRunRecord(agentsDir, order.run, { profile, gatewayPort: null, limitAt: null, endedBy: null });
      return prepared;
    },
    start: (input) => start(parseInput(orders.start, input, 'start')),
    async adopt(input) {
      const order = parseInput(orders.adopt, input, 'adopt');
      const { run } = order;
      const found = await runner.adopt({ ...order, profile: findProfile(run.sessionId, order.profile) });
      return found.state === 'ended' ? { ...found, exit: explainExit(run, found.exit) } : found;
    },
    async watch(input, context) {
      const order = parseInput(orders.watch, input, 'watch');
      const exit = await followed.watch(order, context);
      return exit && explainExit(order.run, exit);
    },
    async leave() {
      deps.leave();
      return null;
    },
    async halt(input) {
      deps.endAll(parseInput(orders.halt, input, 'halt').graceMs);
      return null;
    },
    async stop(input) {
      const { run, graceMs } = parseInput(orders.stop, input, 'stop');
      await runner.stop(run, graceMs);
      return null;
    },
    async collect(input) {
      const order = parseInput(orders.collect, input, 'collect');
      const placement = order.placement && placeHere(order.placement);
      ports.close(order.run.runId);
      const result = await runner.collect({
        ...order,
        profile: findProfile(order.run.sessionId, order.profile),
        placement,
      });
      return { ...result, logEnd: findLogEnd(order.run.sessionId) };
    },
    async keep(input) {
      const order = parseInput(orders.keep, input, 'keep');
      const { left } = await runner.keep({
        ...order,
        profile: findProfile(order.sessionId, order.profile),
        placement: placeHere(order.placement),
      });
      return { left };
    },
    async discard(input) {
      const { isUnplaced = false, ...run } = parseInput(orders.discard, input, 'discard');
      ports.close(run.runId);
      const logEnd = findLogEnd(run.sessionId);
      await runner.discard(run);
      if (isUnplaced) await inTurn(run.sessionId, () => removeUnplaced(run.sessionId));
      return { logEnd };
    },
    async check(input, call) {
      const order = parseInput(orders.check, input, 'check');
      const { setup, commands, session } = order;
      if (deps.mustTrust) {
        checkTrusted(`the setup of ${setup.id}`, setup.setup, env);
        for (const command of commands) checkTrusted('a check', [command], env);
      }
      const profile = raiseProfile(session.profile);
      return deps.checks.check(
        { ...order, session: { ...session, profile }, setup: withOwnFiles(setup) },
        call,
      );
    },
    clear: (input) => clear(parseInput(orders.clear, input, 'clear')),
    tips: (input) => transfers.listTips(mirrorOf(parseInput(orders.tips, input, 'tips').repository)),
    async findTip(input) {
      const { repository, branch, isOfWorker } = parseInput(orders.findTip, input, 'findTip');
      const mirror = mirrorOf(repository);
      return isOfWorker ? worktrees.findWorkerHead(mirror, branch) : findTip(mirror, branch);
    },
    snapshot: (input) => saveUncommitted(parseInput(orders.snapshot, input, 'snapshot')),
    async probe(input) {
      const { programs } = parseInput(probeInput, input, 'probe');
      const find = (): string[] => programs.filter((each) => findOnPath(each, env) !== undefined);
      const found = find();
      if (found.length === programs.length) return found;
      await deps.refreshPath();
      return find();
    },
  };

  const handlers: LinkHandlers = {
    async onCall(method, input, context) {
      const call = Object.hasOwn(calls, method) ? calls[method] : undefined;
      if (call === undefined) throw new SvcError('usage', `this runner knows no order ${method}`);
      return call(input, context);
    },
    async onStream(name, data) {
      if (name === 'base') {
        const { repository, ...base } = parseInput(streams.base, data, name);
        const folder = mirrorOf(repository);
        await transfers.openMirror(folder, base.commit);
        return (stream) => {
          transfers.receiveBase(folder, base, stream).then(
            () => stream.end(RECEIVED),
            (error: unknown) => stream.end(asSvcError(error).message),
          );
        };
      }
      if (name === 'work') {
        const { repository, tips, known } = parseInput(streams.work, data, name);
        const range = { wanted: tips, known: await transfers.selectKnown(mirrorOf(repository), known) };
        return (stream) => {
          stream.resume();
          void transfers
            .sendCommits(mirrorOf(repository), range, stream)
            .catch((error: unknown) => stream.destroy(asSvcError(error)));
        };
      }
      if (name === 'log') {
        const { sessionId, from } = parseInput(streams.log, data, name);
        return (stream) => void sendLog(agentsDir, sessionId, from, stream);
      }
      throw new SvcError('usage', `this runner knows no stream ${name}`);
    },
  };

  return {
    handlers,
    /** Opens again what the runs of an earlier process of this runner need. */
    async resumeRuns(): Promise<void> {
      for (const run of listRecordedRuns(agentsDir)) {
        const port = readRunRecord(agentsDir, run)?.gatewayPort ?? null;
        if (port !== null) await ports.open(run, port);
        await followed.adoptAgain(run);
      }
    },
  };
}

/** Joins the connections of runs to the board. */
export function connectRuns({ runSockets }: Pick<MachineRunnerParts, 'runSockets'>, board: BoardLink): void {
  runSockets.attach({
    serve: (connection, run) => board.tunnel('seat', run, connection),
    refuse: (connection) => void connection.destroy(),
  });
}
