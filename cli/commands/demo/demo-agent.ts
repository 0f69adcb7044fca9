/** The agent of `svc demo`: not a model. It writes a greeting into a file and commits it. */
import { execFileSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

const FILE = 'HELLO.md';
/** Time to see the worker run, ms. */
const PAUSE_MS = 400;

async function writeGreeting(): Promise<void> {
  const [prompt = ''] = process.argv.slice(2).filter((word) => word !== '--');
  const [subject = ''] = prompt.split('\n');
  console.log(`agent: reading the prompt (${prompt.length} characters)`);
  await delay(PAUSE_MS);
  console.log(`agent: editing ${FILE}`);
  appendFileSync(FILE, 'Hello from a worker in its own worktree.\n');
  execFileSync('git', ['add', '--', FILE]);
  execFileSync('git', ['commit', '--quiet', '--message', subject]);
  console.log(`agent: committed ${subject}`);
}

void writeGreeting();
