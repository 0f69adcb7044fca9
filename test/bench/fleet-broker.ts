import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { createBoardBroker } from '../../engine/fleet/broker/board-broker.ts';
import { readBrokerSetting } from '../../engine/fleet/broker/broker-files.ts';
import { locateBrokerFiles } from '../../engine/fleet/broker/broker-paths.ts';
import { createIdentity } from '../../engine/fleet/broker/identity.ts';
import { type Link, openLink } from '../../engine/fleet/wire/index.ts';
import { subjectsOf } from '../../engine/fleet/wire/join-line.ts';
import { connectToBroker, createBrokerKey } from '../../engine/fleet/wire/nats.ts';
import { HELLO } from '../engine/fleet/wire/peer.ts';
import { findFreePort } from '../support/free-port.ts';
import { readMemory } from '../support/simulated-fleet/open-fleet.ts';
import { temporaryFolder } from '../support/workspaces/git.ts';

const CHILD = fileURLToPath(new URL('./fleet-child.js', import.meta.url));
const RUNNER = 'r-1';

const readStartTime = (pid: number): string | null => {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
};

/** A link over a real broker, and bare requests over the same broker. */
export interface BrokerRig {
  link: Link;
  askBare(): Promise<unknown>;
  /** Reads the memory of the broker's process, MiB. */
  readBrokerMemory(): number;
  close(): Promise<void>;
}

/** Starts a broker and a process that dials over it. @param more variables of that process */
export async function openBrokerRig(more: NodeJS.ProcessEnv): Promise<BrokerRig> {
  const folder = temporaryFolder('svc-bench-broker-');
  const fleet = randomUUID();
  const [identity, key] = [await createIdentity('runner'), createBrokerKey()];
  const broker = createBoardBroker({
    ...{ data: folder, fleet, env: process.env, log: pino({ enabled: false }), readStartTime },
    listUsers: () => ({ runners: [{ id: RUNNER, nkey: key.nkey }], invites: [] }),
    findSecret: () => null,
    async admit() {
      throw new Error('no one joins');
    },
    onOpen: () => undefined,
  });
  const port = await findFreePort();
  await broker.init({ listen: `127.0.0.1:${port}`, hosts: ['127.0.0.1'] });
  const { servers, authority, board } = broker.describe()!;
  const file = join(folder, 'joined.json');
  const joined = {
    servers,
    authority,
    board,
    runner: RUNNER,
    name: 'x',
    ...identity,
    nkeySeed: key.nkeySeed,
  };
  writeFileSync(file, JSON.stringify({ fleet, joined }), { mode: 0o600 });
  const child: ChildProcess = spawn(process.execPath, [CHILD, 'dial', file], {
    stdio: 'inherit',
    env: { ...process.env, ...more },
  });
  const accepted = { id: RUNNER, certificate: identity.certificate };
  const stream = await broker.accept(accepted, AbortSignal.timeout(20_000));
  const link = await openLink(stream, HELLO, { onCall: async () => null });
  const { nkeySeed } = readBrokerSetting(folder)!;
  const bare = await connectToBroker(
    { servers, authority, inbox: subjectsOf(fleet).joined('bare'), login: { nkeySeed } },
    () => undefined,
  );
  const answering = await connectToBroker(
    { servers, authority, inbox: subjectsOf(fleet).joined('bench'), login: { nkeySeed } },
    () => undefined,
  );
  const subject = subjectsOf(fleet).down('bench', 'echo');
  answering.serve(subject, async (message) => message);
  const text = new TextEncoder().encode('x'.repeat(250));
  return {
    link,
    askBare: () => bare.request(subject, text, 5000),
    readBrokerMemory() {
      const { pid } = JSON.parse(readFileSync(locateBrokerFiles(folder).process, 'utf8')) as { pid: number };
      return readMemory(pid, 'VmRSS');
    },
    async close() {
      link.close();
      child.kill();
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      await bare.close();
      await answering.close();
      await broker.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
