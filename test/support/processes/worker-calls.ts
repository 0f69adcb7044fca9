import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SCHEMES, signRequest } from '../../../engine/core/http/signature.ts';
import { issueOpened } from '../../../fixtures/payloads/events.ts';
import { visitor } from '../../../fixtures/payloads/repository.ts';
import { ended, logOf, started } from '../agents/strict.ts';
import type { EngineHere } from '../workspaces/engine.ts';
import { SECRET, type TestWorkspace } from '../workspaces/workspace.ts';

/**
 * A worker's step: a call of the engine, a subscription from the first event on, or a shell command in its worktree.
 */
export type WorkerStep = { call: string; input?: object } | { follow: string } | { shell: string };

export interface WorkerAnswer {
  answer?: unknown;
  code?: string;
  message?: string;
}

const CHILD = fileURLToPath(new URL('./worker-calls-child.js', import.meta.url));
let files = 0;

/**
 * Returns the lines of a prompt that make the scripted agent take these steps; `cwd` is the folder that it reports.
 */
export function promptSteps(ws: TestWorkspace, steps: readonly WorkerStep[], cwd = ''): string {
  files += 1;
  const file = join(ws.root, `steps-${files}.json`);
  writeFileSync(file, JSON.stringify(steps));
  return `#agent: run '${process.execPath}' '${CHILD}' '${file}' ${cwd}\n#agent: no-change`;
}

/** Resolves with the worker's answers, step by step, once its session has ended. */
export async function answersOf(
  ws: TestWorkspace,
  here: EngineHere,
  session: string,
): Promise<WorkerAnswer[]> {
  await ended(here, session);
  const log = logOf(ws, session);
  const line = log.split('\n').find((each) => each.startsWith('ANSWERS '));
  if (line === undefined) throw new Error(`${session} has no answers: ${log}`);
  return JSON.parse(line.slice('ANSWERS '.length)) as WorkerAnswer[];
}

/** Has a worker of a person's task take the steps. */
export async function takeSteps(
  ws: TestWorkspace,
  here: EngineHere,
  steps: readonly WorkerStep[],
  { cwd, ...options }: { cwd?: string; project?: string; inplace?: boolean } = {},
): Promise<{ session: string; answers: WorkerAnswer[] }> {
  const { project, ...run } = options;
  const session = await started(
    here,
    `steps\n${promptSteps(ws, steps, cwd)}`,
    run,
    project === undefined ? {} : { project },
  );
  return { session, answers: await answersOf(ws, here, session) };
}

/** Opens an issue with a prompt as an untrusted author, and approves it as a person. Needs a template `codehost`. */
export async function startStranger(here: EngineHere, prompt: string): Promise<string> {
  const { address, close } = await here.engine.listen({
    host: '127.0.0.1',
    port: 0,
    secrets: [SECRET],
    allowRemote: false,
    onAccess: () => undefined,
  });
  const body = JSON.stringify(issueOpened({ user: visitor, association: 'NONE', id: 77, body: prompt }));
  const answer = await fetch(`http://${address.host}:${address.port}/codehost`, {
    method: 'POST',
    body,
    headers: { 'x-hub-signature-256': signRequest(SCHEMES.codehost, SECRET, '', body) },
  });
  const { decision_id } = (await answer.json()) as { decision_id: string };
  await close();
  const { session } = await here.call('decision.approve', { id: decision_id });
  if (session === null) throw new Error(`${decision_id} started nothing`);
  return session.session_id;
}
