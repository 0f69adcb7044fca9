import { X509Certificate } from 'node:crypto';
import type { Clock } from '../core/base/clock.ts';
import { asSvcError, SvcError } from '../core/base/errors.ts';
import { sentence } from '../core/base/sentence.ts';
import type { OtherMachines } from '../dispatch/index.ts';
import type { Storage } from '../storage/index.ts';
import type { MachineChecker } from '../workers/runner/checks/index.ts';
import { countBranch, type MachineRunner, NOTHING_KEPT } from '../workers/runner/runs/index.ts';
import type { Session } from '../workers/sessions/index.ts';
import type { Fleet, FleetDeps, RunningBranch } from './fleet.ts';
import { createGoneRunner } from './gone-runner.ts';
import { createInvites, type Invite } from './invites.ts';
import { openChoice } from './open-choice.ts';
import {
  createRunnerRecords,
  LOCAL_MACHINE as LOCAL,
  type RunnerRecord,
  type RunnerRecords,
} from './records.ts';
import { createProjectShares, type ProjectShares, type ShareScope } from './shares.ts';
import type { JoinRequest } from './wire/join-line.ts';
import { FLEET_PROTOCOL } from './wire/link.ts';

export interface FleetAccessDeps
  extends Omit<FleetDeps, 'broker' | 'starts' | 'onDrain' | 'forget' | 'noteLease' | 'readLease'> {
  /** Called inside the transaction that takes a machine out which has left. */
  onLeft(record: RunnerRecord): void;
  starts: Omit<FleetDeps['starts'], 'invite'>;
  broker: Pick<FleetDeps['broker'], 'data' | 'readStartTime'>;
  /** Called inside the transaction that adds a machine that has joined. */
  onJoined(record: RunnerRecord): void;
  /** Reports whether a session works on a machine now. */
  isWorkingOn(runner: string): boolean;
  storage: Storage;
  clock: Clock;
  shareScope: ShareScope;
  /** Reports whether evidence of a project is rerun in the pool of its session, `projects[].verify`. */
  isVerifiedInPool(project: string | null): boolean;
  /** The pool of a project, or of the workspace; empty for this machine. */
  findConfiguredPool(project: string | null): string;
  /** Finds the branch of a session that works on another machine; null for any other. */
  findRemoteBranch(branch: string): RunningBranch | null;
  /** The name of a project; null is the workspace's own. */
  nameProject(project: string | null): string;
  /** The programs of an agent's command; empty for an unknown agent. */
  listPrograms(agent: string): readonly string[];
  /** The guard profile of a session before its first run. */
  readProfile(): string;
  /** Reports whether `fleet init` has created a broker. */
  hasBroker(): boolean;
  /** Lists the machines that have not been cleaned of a session's lost runs. */
  listHolders(sessionId: string): string[];
}

/** The other machines of a workspace. Without any, nothing of the connections is loaded. */
export interface FleetAccess extends OtherMachines {
  records: RunnerRecords;
  shares: ProjectShares;
  /** Creates a line by which one machine joins, valid once and for an hour. Throws `not_found`, `broker_unreachable`. */
  invite(wanted: Pick<Invite, 'pool' | 'name' | 'most'>): Promise<string>;
  /** Loads the broker; see `Fleet.loadBroker`. */
  loadBroker: Fleet['loadBroker'];
  findBroker: Fleet['findBroker'];
  /** Connects to all machines, at the start of the engine. */
  start(): Promise<void>;
  connect(record: RunnerRecord): Promise<void>;
  disconnect(id: string): Promise<void>;
  /** Ends the connection to a machine, after an order to end all of its runs, which is not waited for long. */
  cutOff(id: string): Promise<void>;
  /** Has a connected machine that has joined end its runner, and remove its folders. */
  orderToLeave(id: string): Promise<void>;
  readState: Fleet['readState'];
  isLost: Fleet['isLost'];
  reconnect: Fleet['reconnect'];
  /** Takes over what a running session has committed on its machine so far, for a limited time. Never rejects. */
  fetchBranch(branch: string): Promise<void>;
  /** Asks the machine of a running session where its branch ends; null if it has none, or if no answer comes. */
  findTip(branch: string): Promise<string | null>;
  /** Takes over that and what it has not committed, in case its machine is lost. Never rejects. */
  saveBranch(branch: RunningBranch): Promise<void>;
  /**
   * Finds the machine that checks the work of a session of a pool: not its own, if there is another one; null for this
   * machine. Throws `no_runner` if no machine can do it now, `share_missing`.
   */
  findChecker(session: Pick<Session, 'pool' | 'runner' | 'project' | 'profile'>): MachineChecker | null;
  /** Returns the name of a machine, also of one that was removed. */
  nameMachine(id: string): string;
  /** Returns the runner of a machine; for one that was removed, a runner that ends its sessions. Throws `no_runner`. */
  findRunner(id: string): MachineRunner;
  close(): Promise<void>;
}

function canCheck(
  { isDrained, isRevoked }: RunnerRecord,
  state: ReturnType<Fleet['readState']>,
  profile: string | null,
): boolean {
  if (isDrained || isRevoked || state?.state !== 'ready') return false;
  const isStrict = profile === 'strict' || state.facts?.profile === 'strict';
  return !isStrict || state.facts?.confinementProblem === null;
}

function isCertificate(text: string): boolean {
  try {
    return new X509Certificate(text).subject !== '';
  } catch {
    return false;
  }
}

export function createFleetAccess(deps: FleetAccessDeps): FleetAccess {
  const records = createRunnerRecords(deps.storage, deps.clock);
  const shares = createProjectShares(deps.shareScope);
  const invites = createInvites(deps.storage, deps.clock);
  let loading: Promise<Fleet> | null = null;
  let fleet: Fleet | null = null;

  function loadFleet(): Promise<Fleet> {
    loading ??= import('./fleet.ts').then(({ createFleet }) => {
      fleet = createFleet({
        ...deps,
        readLease: (id) => records.find(id)?.leaseMs ?? null,
        async noteLease(id, leaseMs) {
          const known = records.find(id);
          if (known !== null && known.leaseMs !== leaseMs)
            await deps.storage.write(() => records.setLease(id, leaseMs));
        },
        async onDrain(id) {
          if (records.find(id)?.isDrained === false)
            await deps.storage.write(() => records.setDrained(id, true));
          return null;
        },
        async forget(id) {
          await deps.storage.write(() => {
            const record = records.resolve(id);
            if (deps.isWorkingOn(id)) throw new SvcError('conflict', `sessions work on ${record.name}`);
            records.remove(id);
            deps.onLeft(record);
          });
        },
        starts: { ...deps.starts, invite: (pool) => invite({ pool, name: null, most: 1 }) },
        broker: {
          ...deps.broker,
          admit,
          findSecret: invites.findSecret,
          listUsers: () => ({
            invites: invites.list(),
            runners: records
              .list()
              .flatMap(({ id, joined, isRevoked }) =>
                joined === null || isRevoked ? [] : [{ id, nkey: joined.nkey }],
              ),
          }),
        },
      });
      return fleet;
    });
    return loading;
  }

  async function connect(record: RunnerRecord): Promise<void> {
    if (!record.isRevoked) (await loadFleet()).connect(record);
  }

  /** Creates a line by which one machine joins. Throws `not_found`, `broker_unreachable`. */
  async function invite(wanted: Pick<Invite, 'pool' | 'name' | 'most'>): Promise<string> {
    const broker = fleet?.findBroker() ?? null;
    const described = broker?.describe() ?? null;
    if (broker === null || described === null)
      throw new SvcError('not_found', 'this fleet has no broker', {
        hint: sentence`{fleet.init host=chair.lan} creates it`,
      });
    const problem = broker.findProblem();
    if (problem !== null) throw new SvcError('broker_unreachable', problem);
    const { formatJoinLine } = await import('./wire/join-line.ts');
    const { id, password, secret } = await deps.storage.write(() => invites.add(wanted));
    broker.reload();
    await broker.confirm({ id, password });
    return formatJoinLine({ fleet: deps.fleet, ...described, id, password, secret });
  }

  /** Adds a machine that was invited, once. Throws `join_invalid`, `protocol_mismatch`. */
  async function admit(invite: string, { host, name: wanted, protocol, certificate, nkey }: JoinRequest) {
    if (!isCertificate(certificate)) throw new SvcError('join_invalid', 'its certificate cannot be read');
    if (protocol !== FLEET_PROTOCOL)
      throw new SvcError(
        'protocol_mismatch',
        `it speaks version ${protocol}, and this engine ${FLEET_PROTOCOL}`,
        {
          hint: 'install the same version of svc on both machines',
        },
      );
    const record = await deps.storage.write(() => {
      // Its first answer was lost; its keys are its own.
      const known = records
        .list()
        .find(({ joined }) => joined?.nkey === nkey && joined.certificate === certificate);
      if (known !== undefined) return known;
      const found = invites.find(invite);
      if (found === null) throw new SvcError('join_invalid', 'the invitation is spent or too old');
      invites.spend(invite);
      const name = records.findFreeName(found.name ?? wanted ?? host);
      const { pool, most } = found;
      const added = records.add({
        ...{ name, host, via: null, command: '', pool, most, joined: { certificate, nkey } },
      });
      deps.onJoined(added);
      return added;
    });
    fleet?.findBroker()?.reload();
    await connect(record);
    return { id: record.id, name: record.name };
  }

  /** The pool that is named, or configured; null for this machine. */
  function namePool(
    project: string | null,
    { pool, on }: { pool?: string | undefined; on?: string | undefined },
  ) {
    if (on === LOCAL) return null;
    const named = pool ?? (on === undefined ? deps.findConfiguredPool(project) : undefined);
    return named === undefined || named === '' || named === LOCAL ? null : named;
  }

  function isGone(id: string): boolean {
    return records.find(id)?.isRevoked ?? true;
  }

  function explainLoss(id: string): { name: string; text: string; mayMove: boolean } {
    const name = records.findName(id);
    const found = records.find(id);
    if (found === null) return { name, text: `its machine ${name} was removed`, mayMove: false };
    if (found.isRevoked) return { name, text: `its machine ${name} was revoked`, mayMove: true };
    const mayMove = deps.readPolicy().onLost === 'retry';
    return { name, text: `its machine ${name} was lost`, mayMove };
  }

  return {
    records,
    shares,
    hasAny: () => records.list().length > 0,
    invite,
    loadBroker: async () => (await loadFleet()).loadBroker(),
    findBroker: () => fleet?.findBroker() ?? null,
    async start() {
      if (deps.hasBroker()) {
        const broker = await (await loadFleet()).loadBroker();
        // Without it everything else works; the list says why.
        await broker
          .start()
          .catch((error: unknown) =>
            deps.log.warn({ error: asSvcError(error).message }, 'the broker was not started'),
          );
      }
      for (const record of records.list()) await connect(record);
    },
    connect,
    disconnect: async (id) => fleet?.disconnect(id),
    cutOff: async (id) => fleet?.cutOff(id),
    orderToLeave: async (id) => fleet?.orderToLeave(id),
    readState: (id) => fleet?.readState(id) ?? null,
    isLost: (id) => fleet?.isLost(id) ?? false,
    reconnect: (id) => fleet?.reconnect(id),
    async fetchBranch(branch) {
      const remote = fleet === null ? null : deps.findRemoteBranch(branch);
      if (remote !== null) await fleet?.fetchBranch(remote);
    },
    async findTip(branch) {
      const remote = fleet === null ? null : deps.findRemoteBranch(branch);
      return remote === null ? null : ((await fleet?.findTip(remote)) ?? null);
    },
    saveBranch: async (branch) => fleet?.saveBranch(branch),
    nameMachine: records.findName,
    findRunner(id) {
      const runner = fleet?.findRunner(id) ?? null;
      if (runner !== null) return runner;
      if (isGone(id)) return createGoneRunner(explainLoss(id).text);
      throw new SvcError('no_runner', `the machine ${id} is not connected yet`, {
        hint: sentence`{runner.list} lists the machines`,
      });
    },
    isKnown: (id) => records.find(id) !== null,
    isGone,
    explainLoss,
    settle: (id) => fleet?.settle(id),
    async takeStock({ sessionId, repository: folder, branch, baseCommit, runs }) {
      if (folder === null || branch === null || baseCommit === null) return NOTHING_KEPT;
      try {
        await (await loadFleet()).restoreSnapshot({ sessionId, folder, branch, runs });
        const kept = await countBranch(deps.worktrees, { repository: folder, head: branch, baseCommit });
        return { ...kept, left: ['what had not arrived from its machine is not on its branch'] };
      } catch (error) {
        return { ...NOTHING_KEPT, left: [`its branch cannot be read: ${asSvcError(error).message}`] };
      }
    },
    findChecker(session) {
      const { pool, project, runner } = session;
      if (pool === null || !deps.isVerifiedInPool(project)) return null;
      shares.check(deps.nameProject(project), pool);
      const [best] = records
        .list()
        .filter((each) => each.pool === pool)
        .filter((each) => canCheck(each, fleet?.readState(each.id) ?? null, session.profile))
        .sort((one, other) => Number(one.id === runner) - Number(other.id === runner));
      if (best === undefined)
        throw new SvcError('no_runner', `no machine of the pool ${pool} can check the work now`, {
          hint: sentence`{runner.list} says why`,
        });
      return { name: best.name, check: async (work, run) => (await loadFleet()).check(best.id, work, run) };
    },
    isReachable: (id) => fleet?.readState(id)?.state === 'ready',
    findPool(project, wanted) {
      const pool = namePool(project, wanted);
      if (pool !== null || wanted.on === undefined || wanted.on === LOCAL) return pool;
      return records.find(wanted.on)?.pool ?? wanted.on;
    },
    findDestination(project, wanted) {
      const { on } = wanted;
      const isNamed = on !== undefined && on !== LOCAL;
      const runner = isNamed ? records.resolve(on) : null;
      const pool = runner?.pool ?? namePool(project, wanted);
      if (pool === null) return null;
      if (wanted.pool !== undefined && pool !== wanted.pool)
        throw new SvcError('no_runner', `${on} is not in the pool ${wanted.pool}, but in ${pool}`);
      if (!records.list().some((each) => each.pool === pool) && deps.starts.findStart(pool) === '')
        throw new SvcError('no_runner', `there is no machine in the pool ${pool}`, {
          hint: sentence`{runner.list} lists them`,
        });
      shares.check(deps.nameProject(project), pool);
      return { pool, runner: runner?.id ?? null };
    },
    openChoice: (working) =>
      openChoice(
        {
          listRecords: records.list,
          readState: (id) => fleet?.readState(id) ?? null,
          hasPrograms: (id, programs) => fleet?.hasPrograms(id, programs) ?? null,
          checkShare: (project, pool) => shares.check(deps.nameProject(project), pool),
          listPrograms: deps.listPrograms,
          listHolders: deps.listHolders,
          readProfile: deps.readProfile,
          now: deps.clock.now,
        },
        working,
      ),
    async close() {
      await (await loading)?.close();
    },
  };
}
