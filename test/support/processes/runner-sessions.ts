import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { PreparedRun } from '../../../engine/workers/runner/runs/index.ts';
import type { PlacedRun } from '../../../engine/workers/runner/runs/runner.ts';
import { makeRepository } from '../workspaces/git.ts';
import { type HostOptions, type RunnerHost, startRunnerHost } from './runner-host.ts';

/** The output of an agent. */
export const RESULT = `{"type":"result","subtype":"success","is_error":false,"session_id":"c-1","usage":{"input_tokens":3,"output_tokens":2}}`;

export type RunnerSession = ReturnType<ReturnType<typeof makeRunnerSessions>['makeSession']>;

/** Makes sessions in a repository, for runners in processes that can be killed. */
export function makeRunnerSessions() {
  const repository = makeRepository();
  const agents = join(repository.root, '.svc', 'agents');
  mkdirSync(agents, { recursive: true });
  repository.commit({ '.gitignore': '.svc/\n' }, 'ignored');
  const hosts = new Set<RunnerHost>();
  let sessions = 0;

  /** A session whose setup commands and agent note each of their starts, and wait for a file. */
  function makeSession({ code = 0 } = {}) {
    sessions += 1;
    const sessionId = `s-${sessions}`;
    const folder = join(repository.folder, sessionId);
    mkdirSync(folder);
    // Of an earlier run, so that a note is kept.
    mkdirSync(join(agents, sessionId));
    const file = (name: string): string => join(folder, name);
    const say = (name: string, end: string): string =>
      `sh -c 'echo $$ >>${file(name)}; echo from ${name}; until [ -e ${file(`go-${name}`)} ]; do sleep 0.01; done; ${end}'`;
    writeFileSync(file('result'), `${RESULT}\n`);
    const setup = [say('first', 'true'), say('second', `exit ${code}`)];
    const run = { sessionId, runId: randomUUID() };
    const place = {
      sessionId,
      origin: {
        folder: repository.root,
        repository: repository.root,
        inside: '',
        base: 'main',
        baseCommit: repository.git('rev-parse', 'HEAD'),
        inplace: false,
      },
      placement: null,
      former: null,
      takenPorts: [],
      isQuiet: true,
      note: `[svc: ${sessionId}]`,
    };
    const openHost = (moment: HostOptions['moment'] = null): RunnerHost => {
      const home = join(repository.folder, 'home');
      const host = startRunnerHost({ root: repository.root, home, agents, setup, moment });
      hosts.add(host);
      return host;
    };
    const prepareOf = ({ placement }: PlacedRun) => ({
      run,
      taskId: 't-1',
      project: null,
      setup: {
        ...{ id: 'own', folder: repository.root, own: true, digest: '', consent: 'given' as const },
        ...{ setup, teardown: [], envFiles: [], run: [], folderWaits: false, problem: null },
      },
      profile: 'lite',
      placement,
      mayHoldWork: false,
      agentFolderOf: null,
    });
    const startOf = ({ placement }: PlacedRun) => ({
      run,
      profile: 'lite',
      placement,
      agent: 'shell',
      command: {
        transport: 'subprocess' as const,
        template: say('agent', `cat ${file('result')}; echo work >work.txt`),
        isBuiltIn: false,
      },
      worker: 'w-1',
      texts: { prompt: 'the task', brief: 'the brief\n', notes: null, resumption: null },
      agentSession: null,
      author: {},
      variables: {},
      timeoutSec: 60,
      gateway: null,
    });
    const watchOf = ({ placement, outputFrom }: PlacedRun, prepared: PreparedRun) => ({
      run,
      format: { transport: 'subprocess' as const, preset: 'claude' },
      outputFrom: prepared.outputFrom ?? outputFrom,
      placement,
      profile: 'lite',
      worker: 'w-1',
      since: 0,
      resumed: null,
    });
    return {
      run,
      setup,
      place,
      openHost,
      prepareOf,
      startOf,
      watchOf,
      release: (name: string) => writeFileSync(file(`go-${name}`), ''),
      listStarts: (name: string): string[] =>
        // A shell creates the file before it writes the line.
        existsSync(file(name)) ? readFileSync(file(name), 'utf8').split('\n').slice(0, -1) : [],
      readLog: () => readFileSync(join(agents, sessionId, 'log'), 'utf8'),
    };
  }

  return {
    repository,
    agents,
    makeSession,
    async close(): Promise<void> {
      for (const host of hosts) await host.kill();
      repository.remove();
    },
  };
}
