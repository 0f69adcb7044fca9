import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { pino } from 'pino';
import { createBoardLink } from '../../../engine/fleet/machine/board-link.ts';
import { dialBoard } from '../../../engine/fleet/machine/dial-board.ts';
import { createGatewayPorts } from '../../../engine/fleet/machine/gateway-ports.ts';
import { readJoinedFleet } from '../../../engine/fleet/machine/joined-fleet.ts';
import { openLease } from '../../../engine/fleet/machine/lease.ts';
import { locateMachineFolders } from '../../../engine/fleet/machine/machine-folders.ts';
import { readOwnRules } from '../../../engine/fleet/machine/own-rules.ts';
import { startHeartbeats } from '../../../engine/fleet/machine/send-heartbeats.ts';
import { createOrderServer } from '../../../engine/fleet/machine/serve-orders.ts';
import { watchRuns } from '../../../engine/fleet/machine/watch-runs.ts';
import type { MachineFacts } from '../../../engine/fleet/messages.ts';
import type { Link, LinkHandlers } from '../../../engine/fleet/wire/index.ts';
import { createSimulatedRunner, type Pace } from './simulated-runner.ts';

/** How a machine answers. */
export interface Manners extends Pace {
  /** How long an order waits before it is followed, and its answer after that, ms. */
  readDelayMs(): number;
  /** True if the connection is lost between an order and its answer. */
  losesAnswer(): boolean;
}

/** A machine that has joined: everything of a real one but its processes and its git. */
export interface PlayedMachine {
  /** Cuts it off from the board; its runs continue, and its lease runs on. */
  cut(): Promise<void>;
  restore(): void;
}

const GRACE_MS = 2000;

/** Serves the board as the machine with this home. @param isCut whether it is cut off at first */
export async function playMachine(
  env: NodeJS.ProcessEnv,
  fleet: string,
  manners: Manners,
  isCut: boolean,
): Promise<PlayedMachine> {
  const log = pino({ enabled: false });
  const folders = locateMachineFolders(fleet, env);
  const joined = readJoinedFleet(folders.data)!;
  const board = createBoardLink(log);
  const simulated = createSimulatedRunner(folders, manners);
  const { runner, hasEnded } = simulated;
  const lease = openLease(folders.data, GRACE_MS);
  const { endAll } = watchRuns({
    ...{ runner, hasEnded, agentsDir: folders.agents, lease, graceMs: GRACE_MS, log },
  });
  const ports = createGatewayPorts((run, connection) => board.tunnel('gateway', run, connection));
  const parts = {
    ...{ ...simulated, folders, ports, env, endAll, rules: readOwnRules(env), mustTrust: false },
    ...{ refreshPath: async () => undefined, leave: () => undefined, onBegun: () => undefined },
  };
  const orders = createOrderServer(parts as unknown as Parameters<typeof createOrderServer>[0]);
  await orders.resumeRuns();
  startHeartbeats({ board, lease, folder: folders.data, listAgents: () => [] });
  const boot = randomUUID();
  const facts: MachineFacts = { boot, confinementProblem: null, agents: null, most: null, profile: 'none' };
  let current: Link | null = null;
  const handlers: LinkHandlers = {
    ...orders.handlers,
    async onCall(method, input, context) {
      const ms = manners.readDelayMs();
      if (ms > 0) await delay(ms);
      const answer = await orders.handlers.onCall(method, input, context);
      if (ms > 0) await delay(ms);
      if (manners.losesAnswer()) current?.close();
      return answer;
    },
  };
  const dial = () =>
    dialBoard({
      ...{ fleet, joined, handlers, log },
      describe: async () => facts,
      readLeaseMs: lease.read,
      board: {
        attach(link) {
          current = link;
          board.attach(link);
        },
      },
    });
  let dialing: ReturnType<typeof dial> | null = isCut ? null : dial();
  return {
    async cut() {
      await dialing?.close();
      dialing = null;
    },
    restore() {
      dialing ??= dial();
    },
  };
}
