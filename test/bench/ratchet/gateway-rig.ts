import { rmSync } from 'node:fs';
import { Pool } from 'undici';
import { temporaryFolder } from '../../support/workspaces/git.ts';
import {
  type BenchServer,
  createBodies,
  startBenchGateway,
  startFloor,
  startUpstream,
} from '../gateway-parts.ts';
import type { GuardedOperation, GuardedRig } from './operation.ts';

const KB = 1024;

type Call = () => Promise<void>;

/** The gateway and the floor in this process, before one upstream. */
export interface GatewayRig {
  servers: BenchServer[];
  pools: Pool[];
  gateway: Awaited<ReturnType<typeof startBenchGateway>>['gateway'];
  folder: string;
  /** Calls of a body's kind, by the target. */
  small: { gateway: Call; floor: Call };
  output: { gateway: Call; floor: Call };
}

function createCall(pool: Pool, key: string, nextBody: () => string): Call {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${key}` };
  return async () => {
    const answer = await pool.request({
      method: 'POST',
      path: '/v1/chat/completions',
      headers,
      body: nextBody(),
    });
    const text = await answer.body.text();
    if (answer.statusCode !== 200)
      throw new Error(`the call was answered with ${answer.statusCode}: ${text}`);
  };
}

async function open(): Promise<GatewayRig> {
  const folder = temporaryFolder('svc-bench-gateway-');
  const upstream = await startUpstream();
  const floor = await startFloor(upstream.port);
  const { gateway, key } = await startBenchGateway(upstream.port, folder);
  const poolOf = (port: number): Pool =>
    new Pool(`http://127.0.0.1:${port}`, { connections: 1, pipelining: 1 });
  const [ours, theirs] = [poolOf(gateway.port), poolOf(floor.port)];
  const callsOf = (bodyBytes: number, says: 'question' | 'new output') => {
    const create = (pool: Pool, own: string): Call =>
      createCall(pool, own, createBodies({ bodyBytes, isStream: false, protocol: 'chat', says }));
    return { gateway: create(ours, key), floor: create(theirs, 'floor') };
  };
  return {
    servers: [upstream, floor],
    pools: [ours, theirs],
    gateway,
    folder,
    small: callsOf(KB, 'question'),
    output: callsOf(100 * KB, 'new output'),
  };
}

const compare = (kind: 'small' | 'output', calls: number): GuardedOperation<GatewayRig> => ({
  calls,
  call: (rig) => rig[kind].gateway(),
  reference: (rig) => rig[kind].floor(),
});

/** Calls of models through the gateway, compared with a minimal proxy. */
export const gatewayRig: GuardedRig<GatewayRig> = {
  open,
  async close({ pools, servers, gateway, folder }) {
    for (const pool of pools) await pool.close();
    await gateway.close();
    for (const server of servers) server.close();
    rmSync(folder, { recursive: true, force: true });
  },
  operations: {
    'gateway call of 1 KB': compare('small', 100),
    'gateway call with a new tool output of 100 KB': compare('output', 20),
  },
};
