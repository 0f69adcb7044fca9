// Run by a worker: makes the calls in a file one after another on one connection, and prints their answers.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { asSvcError } from '../../../engine/core/base/errors.ts';
import { connectToEngine } from '../../../engine/daemon/client.ts';
import type { WorkerStep } from './worker-calls.ts';

const [, , file = '', cwd = process.cwd()] = process.argv;
const steps = JSON.parse(readFileSync(file, 'utf8')) as WorkerStep[];
const client = await connectToEngine({ cwd, env: process.env, via: 'tool' });
const call = client.call as unknown as (operation: string, input: object) => Promise<unknown>;
/** Waits for all events that are sent immediately for the past. */
async function follow(method: string): Promise<unknown[]> {
  const told: unknown[] = [];
  const { subscription } = await client.subscribe<{ subscription: number }>(method, { after: 0 }, (each) =>
    told.push(each),
  );
  await call('worker.permissions', {});
  await client.unsubscribe(subscription);
  return told;
}

const answers: object[] = [];
for (const step of steps) {
  if ('shell' in step) {
    execFileSync('/bin/sh', ['-ec', step.shell], { stdio: 'inherit' });
    answers.push({});
    continue;
  }
  try {
    if ('follow' in step) {
      answers.push({ answer: await follow(step.follow) });
      continue;
    }
    answers.push({ answer: await call(step.call, step.input ?? {}) });
  } catch (error) {
    const { code, message } = asSvcError(error);
    answers.push({ code, message });
  }
}
client.close();
console.log(`ANSWERS ${JSON.stringify(answers)}`);
