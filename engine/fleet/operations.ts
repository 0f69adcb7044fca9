import { z } from 'zod';
import { cursor, takePage } from '../core/api/cursor.ts';
import { by, operation } from '../core/api/operation.ts';
import { type Clock, rfc3339 } from '../core/base/clock.ts';
import { asSvcError, SvcError } from '../core/base/errors.ts';
import { formatCount } from '../core/base/text.ts';
import type { EventLog, Storage } from '../storage/index.ts';
import type { FleetAccess } from './access.ts';
import { countSlots } from './choose-machine.ts';
import { POOL_NAME } from './config.ts';
import { listFleetAgents } from './fleet-agents.ts';
import type { HostFacts } from './hosts/index.ts';
import { hasDisk } from './machine-disk.ts';
import { LOCAL_MACHINE as LOCAL, type RunnerRecord } from './records.ts';

/** A machine in a list. */
export interface ListedRunner {
  id: string;
  name: string;
  /** How it is reached: by ssh, by a command of the person, or over the broker, which it has joined. */
  transport: 'ssh' | 'command' | 'broker';
  /** The host, or that command. */
  address: string;
  pool: string;
  /** The most workers at a time. */
  max: number;
  running: number;
  /** The agents installed there, and whether each is logged in: null if svc cannot see that; empty before the first report. */
  agents: { name: string; loggedIn: boolean | null }[];
  /** True if it is to take no new run, in any state. */
  isDrained: boolean;
  state: 'connecting' | 'ready' | 'full' | 'draining' | 'silent' | 'lost' | 'revoked';
  /** Since when it is connected, or is not, RFC 3339; null before the first attempt. */
  since: string | null;
  /** Processes that want to run, for each processor, in the last minute; null before the first report. */
  load: number | null;
  /** Free space for runs, bytes; null before the first report. */
  diskFreeBytes: number | null;
  /** Why it takes no work, a sentence; null if it does. */
  reason: string | null;
  /** The projects that may be sent there. */
  projects: string[];
}

/** The result of the inspection of a host, before it becomes a runner. */
export interface RunnerInspection extends HostFacts {
  /** The name that it would get. */
  name: string;
  /** The projects, and whether each is shared with the pool already. */
  projects: { project: string; isShared: boolean }[];
}

export const hostInput = {
  host: z.string().min(1).max(255).describe('[user@]host of ~/.ssh/config'),
  via: z
    .string()
    .min(1)
    .max(2000)
    .optional()
    .describe('a command that replaces ssh, such as docker exec -i box'),
  name: z
    .string()
    .regex(/^[A-Za-z0-9][\w.-]{0,62}$/, 'a name has letters, digits, . _ - and at most 63 characters')
    .optional()
    .describe('its name; by default the host'),
  pool: z
    .string()
    .regex(POOL_NAME, 'a pool has letters, digits, . _ - and at most 63 characters')
    .optional()
    .describe('the pool that it joins; by default default'),
};

interface Deps {
  fleet: FleetAccess;
  /** The id of the fleet; see `FleetDeps`. */
  fleetId: string;
  env: NodeJS.ProcessEnv;
  storage: Storage;
  events: EventLog;
  clock: Clock;
  countWorking(): ReadonlyMap<string, number>;
  /** Looks whether runs that wait can start. */
  look(): void;
  /** Ends the sessions of machines that were removed. */
  takeUp(): Promise<void>;
  /** Gives up the runs on a machine; see `Dispatcher.loseRuns`. */
  loseRuns(runner: string, release: () => Promise<void>): Promise<void>;
  /** Lists the sessions that run on a machine. */
  listRunningOn(runner: string): string[];
  /** Inside `storage.write`: records that a machine will not be cleaned of lost runs. */
  settleAllOf(runner: string): void;
  /** Lists the names of all projects. Throws `unknown_project` for another one. */
  listProjects(): readonly string[];
}

/** The pool of machines that are added without another one. */
export const DEFAULT_POOL = 'default';

/** Loaded with the first use: most workspaces have no other machine. */
const loadHosts = () => import('./hosts/index.ts');

/** Takes the name from a host such as `ada@box2.lan`. */
const nameHost = (host: string): string =>
  host
    .replace(/^.*@/, '')
    .replace(/[^\w.-]/g, '-')
    .slice(0, 63);

export function checkPool(pool: string): string {
  if (pool === LOCAL) throw new SvcError('usage', 'local is the name of this machine, and cannot be a pool');
  return pool;
}

/** Operations on the machines that run workers. */
export function fleetOperations(deps: Deps) {
  const { fleet, storage, events, clock } = deps;

  function requireProject(project: string): string {
    if (deps.listProjects().includes(project)) return project;
    throw new SvcError('unknown_project', `there is no project ${JSON.stringify(project)}`);
  }

  function listShared(pool: string): string[] {
    return deps.listProjects().filter((project) => fleet.shares.listPools(project).includes(pool));
  }

  function describeRunner(record: RunnerRecord): ListedRunner {
    const { id, name, host, via, pool, isDrained, isRevoked, joined } = record;
    const running = deps.countWorking().get(id) ?? 0;
    const now = fleet.readState(id);
    const slots = countSlots(record, now);
    const isFull = now?.state === 'ready' && running >= slots;
    const projects = listShared(pool);
    const isDraining = isDrained && now?.state === 'ready';
    const isLost = fleet.isLost(id) && now?.state !== 'ready';
    const whyNot =
      (isRevoked ? 'it was cut off: svc runner remove takes it out' : null) ??
      now?.why ??
      (isDrained ? 'it gets no new run: svc runner drain --undo' : null) ??
      (hasDisk(now?.load ?? null) ? null : 'its disk is almost full') ??
      (isFull ? `${running} of ${formatCount(slots, 'worker')}` : null);
    return {
      id,
      name,
      transport: joined !== null ? 'broker' : via === null ? 'ssh' : 'command',
      address: via ?? host,
      pool,
      max: slots,
      running,
      agents: now?.load?.agents ?? [],
      isDrained,
      state: isRevoked
        ? 'revoked'
        : isLost
          ? 'lost'
          : isDraining
            ? 'draining'
            : isFull
              ? 'full'
              : (now?.state ?? 'connecting'),
      load: now?.load?.load ?? null,
      diskFreeBytes: now?.load?.diskFreeBytes ?? null,
      since: now === null ? null : rfc3339(now.since),
      reason: whyNot ?? (projects.length === 0 ? `no project is shared with the pool ${pool}` : null),
      projects,
    };
  }

  const about = (host: string, via: string | undefined) => ({ host, via: via ?? null });
  return [
    operation({
      name: 'runner.list',
      about:
        'The machines that run workers, what each does, and why it takes no work. Those that are not connected are tried again now.',
      seat: 'trusted',
      changes: false,
      input: z.strictObject({ limit: z.int().min(1).max(100_000).optional(), cursor }),
      run(part) {
        const listed = takePage(fleet.records.list(), part, ({ id }) => id).map(describeRunner);
        for (const { id, state } of listed) if (state === 'silent') fleet.reconnect(id);
        return listed;
      },
    }),
    operation({
      name: 'runner.inspect',
      about: 'Looks at a host that could run workers. Changes nothing there.',
      seat: 'chair',
      changes: false,
      input: z.strictObject(hostInput),
      async run({ host, via, name, pool = DEFAULT_POOL }, _caller, { signal }): Promise<RunnerInspection> {
        const { checkHost, inspectHost } = await loadHosts();
        checkHost(host);
        checkPool(pool);
        const wanted = { agents: listFleetAgents() };
        const facts = await inspectHost(about(host, via), wanted, { environment: deps.env, signal });
        const shared = listShared(pool);
        return {
          ...facts,
          name: name ?? nameHost(host),
          projects: deps.listProjects().map((project) => ({ project, isShared: shared.includes(project) })),
        };
      },
    }),
    operation({
      name: 'runner.add',
      about: 'Installs svc on a host, unless it has this version, and lets workers run there.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({
        ...hostInput,
        max: z.int().min(1).max(1000).optional().describe('the most workers at a time; 4'),
        share: z.array(z.string()).max(1000).optional().describe('projects that may be sent to its pool'),
      }),
      async run(
        { host, via, name = nameHost(host), pool = DEFAULT_POOL, max = 4, share = [] },
        caller,
        call,
      ) {
        const { checkHost, inspectHost, installProgram } = await loadHosts();
        checkHost(host);
        checkPool(pool);
        share.forEach(requireProject);
        if (name === LOCAL || fleet.records.list().some((each) => each.name === name))
          throw new SvcError('exists', `there is a machine named ${name} already`, {
            hint: 'give it another one: svc runner add --name',
          });
        const options = { environment: deps.env, signal: call.signal };
        call.progress(`looking at ${host}`);
        const facts = await inspectHost(about(host, via), { agents: [] }, options);
        call.progress(`installing svc on ${host}`);
        const installed = await installProgram(about(host, via), facts, options);
        const { actor } = caller;
        for (const project of share) fleet.shares.write(project, pool, { at: rfc3339(clock.now()), actor });
        const record = await storage.write(() => {
          const { command } = installed;
          const added = fleet.records.add({
            ...{ name, host, via: via ?? null, command, pool, most: max, joined: null },
          });
          const data = { runner: added.id, name, pool, projects: share };
          events.append({ kind: 'runner_added', ...by(caller), data });
          return added;
        });
        await fleet.connect(record);
        return { ...describeRunner(record), folder: installed.folder, sentBytes: installed.sentBytes };
      },
    }),
    operation({
      name: 'runner.drain',
      about: 'Lets a machine finish its runs without getting new ones; with `undo` it gets runs again.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({ name: z.string().min(1), undo: z.boolean().optional() }),
      run({ name, undo = false }, caller, call) {
        const { id } = fleet.records.resolve(name);
        return call.finish(() => {
          fleet.records.setDrained(id, !undo);
          storage.afterCommit(deps.look);
          const data = { runner: id, name, isUndone: undo };
          events.append({ kind: 'runner_drained', ...by(caller), data });
          return describeRunner(fleet.records.resolve(id));
        });
      },
    }),
    operation({
      name: 'runner.revoke',
      about:
        'Cuts a machine off at once, for good: its runs continue on other machines of its pool, from what was saved, and nothing that it says counts any more.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({ name: z.string().min(1) }),
      async run({ name }, caller) {
        const { id, ...record } = fleet.records.resolve(name);
        if (record.isRevoked) throw new SvcError('conflict', `${record.name} was revoked already`);
        const sessions = deps.listRunningOn(id);
        await storage.write(() => {
          fleet.records.revoke(id);
          const data = { runner: id, name: record.name, sessions };
          events.append({ kind: 'runner_revoked', ...by(caller), data });
        });
        await deps.loseRuns(id, () => fleet.cutOff(id));
        fleet.findBroker()?.reload();
        return { id, name: record.name, sessions };
      },
    }),
    operation({
      name: 'runner.remove',
      about: 'Takes a machine out of the fleet, and removes svc and its folders there.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({
        name: z.string().min(1),
        force: z
          .boolean()
          .optional()
          .describe('also if sessions have unfinished work there, or if it cannot be reached'),
      }),
      async run({ name, force = false }, caller, { signal }) {
        const record = fleet.records.resolve(name);
        const { id, host, via, command } = record;
        const sessions = fleet.records.listSessionsOn(id);
        if (sessions.length > 0 && !force)
          throw new SvcError('conflict', `${record.name} has work of ${sessions.slice(0, 5).join(', ')}`, {
            hint: 'end, promote or discard them first; --force gives that work up',
            data: { sessions },
          });
        const leftThere = record.joined === null ? null : await leaveThere(record);
        await fleet.disconnect(id);
        const left = record.joined === null ? await removeThere({ host, via, command }, signal) : leftThere;
        if (left !== null && !force) {
          await fleet.connect(record);
          throw left;
        }
        await storage.write(() => {
          fleet.records.remove(id);
          deps.settleAllOf(id);
          events.append({ kind: 'runner_removed', ...by(caller), data: { runner: id, name: record.name } });
        });
        if (record.joined !== null) fleet.findBroker()?.reload();
        await deps.takeUp();
        return { id, name: record.name, left: left?.message ?? null };
      },
    }),
    operation({
      name: 'project.share',
      about: 'Allows that the commits of a project are sent to the machines of a pool.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({ id: z.string().min(1), pool: z.string().min(1) }),
      run({ id, pool }, caller, call) {
        const project = requireProject(id);
        checkPool(pool);
        fleet.shares.write(project, pool, { at: rfc3339(clock.now()), actor: caller.actor });
        return call.finish(() => {
          storage.afterCommit(deps.look);
          events.append({ kind: 'project_shared', ...by(caller), data: { project, pool } });
          return { project, pools: fleet.shares.listPools(project) };
        });
      },
    }),
    operation({
      name: 'project.unshare',
      about: 'Withdraws that: no new run of the project goes there.',
      seat: 'chair',
      changes: true,
      input: z.strictObject({ id: z.string().min(1), pool: z.string().min(1) }),
      run({ id, pool }, caller, call) {
        const project = requireProject(id);
        fleet.shares.write(project, pool, null);
        return call.finish(() => {
          events.append({ kind: 'project_unshared', ...by(caller), data: { project, pool } });
          return { project, pools: fleet.shares.listPools(project) };
        });
      },
    }),
  ];

  /** Has a machine that has joined end its runner and remove its folders. Returns why not. */
  async function leaveThere({ id, name }: RunnerRecord): Promise<SvcError | null> {
    if (fleet.readState(id)?.state !== 'ready')
      return new SvcError('runner_unreachable', `${name} is not connected`, {
        hint: 'svc runner leave cleans it up there; --force takes it out here',
      });
    return fleet.orderToLeave(id).then(
      () => null,
      (error: unknown) => asSvcError(error),
    );
  }

  /** Stops the runner there and removes what was installed. Returns why not. */
  async function removeThere(
    { host, via, command }: Pick<RunnerRecord, 'host' | 'via' | 'command'>,
    signal: AbortSignal,
  ): Promise<SvcError | null> {
    const { removeProgram, runOnHost } = await loadHosts();
    const options = { environment: deps.env, signal };
    try {
      const script = `${command} runner leave ${deps.fleetId}`;
      const { code, stderr } = await runOnHost(about(host, via ?? undefined), script, options);
      if (code !== 0)
        return new SvcError(
          'program_failed',
          `the runner there does not leave: ${stderr.trim().slice(-500) || `exit code ${code}`}`,
        );
      await removeProgram(about(host, via ?? undefined), options);
      return null;
    } catch (error) {
      return asSvcError(error);
    }
  }
}
