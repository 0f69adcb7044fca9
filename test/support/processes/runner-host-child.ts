// Hosts a runner: each line of its input is a call, each line of its output an answer. Dies at a moment, on request.
import childProcess from 'node:child_process';
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { HostMoment, HostOptions } from './runner-host.ts';

const { root, home, agents, setup: commands, moment } = JSON.parse(process.argv[2] ?? '') as HostOptions;

/** Dies as if it were killed from outside. */
const dieAt = (now: HostMoment): void => {
  if (now === moment) process.kill(process.pid, 'SIGKILL');
};

const { writeFileSync } = fs;
fs.writeFileSync = ((file: string, data: string, ...rest: []) => {
  const what = String(file).endsWith('/.svc/set-up')
    ? 'mark'
    : String(file).endsWith('/bin/svc')
      ? 'shim'
      : null;
  if (what === 'shim' && moment === 'within shim') writeFileSync(file, data.slice(0, 9), ...rest);
  if (what === 'shim') dieAt('within shim');
  if (what === 'mark') dieAt('before mark');
  writeFileSync(file, data, ...rest);
  if (what !== null) dieAt(`after ${what}`);
}) as typeof writeFileSync;

const { spawn } = childProcess;
childProcess.spawn = ((program: string, args: string[], options: object) => {
  const runDir = args[2] === 'svc-worker' ? (args[3] ?? '') : null;
  const what =
    runDir === null
      ? null
      : !runDir.includes('/setup-')
        ? 'agent'
        : runDir.endsWith('/0')
          ? 'first'
          : 'second';
  if (what !== null) dieAt(`before ${what}`);
  const child = spawn(program, args, options);
  if (what !== null) dieAt(`after ${what}`);
  return child;
}) as typeof spawn;
syncBuiltinESMExports();

const { writeProjectConsent } = await import('../../../engine/core/access/consents.ts');
const { systemClock } = await import('../../../engine/core/base/clock.ts');
const { asSvcError, SvcError } = await import('../../../engine/core/base/errors.ts');
const { createConfinement } = await import('../../../engine/workers/runner/confine/index.ts');
const { createProcesses } = await import('../../../engine/workers/runner/processes/index.ts');
const { createRunSockets } = await import('../../../engine/workers/runner/run-sockets.ts');
const { createLocalRunner } = await import('../../../engine/workers/runner/runs/index.ts');
const { createSetup } = await import('../../../engine/workers/runner/setup/index.ts');
const { createWorktrees } = await import('../../../engine/workers/runner/worktrees/index.ts');

const env = { PATH: process.env.PATH ?? '', HOME: '/nonexistent' };
const environment = (extra: Record<string, string>) => ({ ...env, ...extra });
const log = { warn() {}, error() {}, info() {} } as unknown as Parameters<typeof createLocalRunner>[0]['log'];
const paths = { data: join(root, '.svc'), db: '', socket: '', agents, worktrees: join(agents, 'worktrees') };
const configFile = join(root, 'svc.yaml');
const entry = { id: 'own', path: '.', setup: commands, teardown: [], env_files: [], run: {} };
const config = { project: { name: 'own', root: '.' }, projects: [entry] };
const processes = createProcesses({ pollMs: 20 });
const worktrees = createWorktrees({ env, agentsDir: agents });
const setup = createSetup({
  processes,
  worktrees,
  where: () => ({ root, config, home }),
  environment,
  confine: async (_, { argv }) => argv,
  configFile,
  agentsDir: agents,
  log,
  endCommands: async () => undefined,
  graceMs: 300,
});
const { digest } = setup.readProjectSetup(null);
writeProjectConsent(home, root, 'own', { digest, at: '', actor: 'test' });
const runner = createLocalRunner({
  processes,
  worktrees,
  setup,
  confinement: createConfinement({ env, root, configFile, paths, machineHome: home, svc: null }),
  checkConfinement: async () => undefined,
  isEngineElsewhere: false,
  runSockets: createRunSockets({ root, version: '0', env }),
  agents: { resolveFolder: () => root },
  paths,
  configFile,
  svc: ['svc'],
  isArgvSeen: false,
  environment,
  clock: systemClock,
  log,
});
const methods = runner as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, args } = JSON.parse(line) as { id: number; method: string; args: unknown[] };
  const more = method === 'watch' ? [() => undefined] : [];
  const answered = methods[method]!(...args, ...more).then(
    (answer) => ({ id, answer }),
    (thrown: unknown) => {
      const { code, message } = asSvcError(thrown);
      return { id, error: { code, message, isRaw: !(thrown instanceof SvcError) } };
    },
  );
  void answered.then((answer) => process.stdout.write(`${JSON.stringify(answer)}\n`));
}
