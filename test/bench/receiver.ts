import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { HOST_OPTIONS } from '../../cli/host-options.ts';
import { type Figure, figure, median } from './figure.ts';
import type { Load, LoadResult } from './receiver-child.ts';
import { reply } from './reply.ts';

const CONNECTIONS = 32;
const ROUNDS = 5;
const REQUESTS = 10_000;

/**
 * Compares durable signed `POST /task` at 32 connections with a bare node:http server that checks the same HMAC and
 * commits one row for each request. The two alternate so that slow spells of the machine affect both; each figure is
 * the median of the rounds.
 */
export async function receiverBench(): Promise<Figure[]> {
  const children = [child('receiver'), child('reference'), child('load')] as const;
  const [receiver, reference, generator] = children;
  try {
    const [ours, bare] = await Promise.all([
      reply<{ port: number }>(receiver),
      reply<{ port: number }>(reference),
    ]);
    const measure = (port: number, requests = REQUESTS): Promise<LoadResult> => {
      generator.send({ port, connections: CONNECTIONS, requests } satisfies Load);
      return reply<LoadResult>(generator);
    };
    // Runs until the code is compiled and the caches are warm.
    await measure(bare.port, 3000);
    await measure(ours.port, 3000);
    const bareRounds: LoadResult[] = [];
    const ourRounds: LoadResult[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      bareRounds.push(await measure(bare.port));
      ourRounds.push(await measure(ours.port));
    }
    const failed = [...bareRounds, ...ourRounds].reduce((sum, round) => sum + round.failed, 0);
    if (failed > 0) throw new Error(`${failed} requests of the bench were not answered with 201`);
    const beside = (name: string, unit: string, pick: (round: LoadResult) => number): Figure =>
      figure(name, median(ourRounds.map(pick)), unit, median(bareRounds.map(pick)));
    return [
      beside('receiver: durable signed POST /task', 'requests/s', (round) => round.requests / round.seconds),
      beside('receiver: POST /task p50', 'ms', (round) => round.p50),
      beside('receiver: POST /task p99', 'ms', (round) => round.p99),
    ];
  } finally {
    for (const each of children) if (each.connected) each.disconnect();
  }
}

function child(program: string): ChildProcess {
  return fork(fileURLToPath(new URL('./receiver-child.js', import.meta.url)), [program], {
    stdio: 'inherit',
    execArgv: program === 'receiver' ? [...HOST_OPTIONS] : [],
  });
}
