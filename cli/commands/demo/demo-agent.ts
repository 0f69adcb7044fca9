/** The agent of `svc demo`: not a model. It writes a greeting into a file and commits it. */
import { execFileSync } from 'node:child_process';
import { appendFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { locateProgram } from '../../../engine/core/base/own-package.ts';

const FILE = 'HELLO.md';
const TEST = `grep Hello ${FILE}`;
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
  // svc runs the test again, so the merge is verified.
  const words = ['verify', 'report', '--passed', TEST, '--summary', `${FILE} greets the readers`];
  // No cache of compiled code: the demo leaves nothing behind.
  const env = { ...process.env, XDG_CACHE_HOME: '/nonexistent/cache' };
  execFileSync(process.execPath, [locateProgram('svc'), ...words], { stdio: 'ignore', env });
  console.log(`agent: reported that this passed: ${TEST}`);
}

void writeGreeting();
