import { join } from 'node:path';
import type { Caller } from '../../../engine/core/api/operation.ts';
import {
  type Api,
  type ApiInput,
  type Engine,
  type OpenOptions,
  openEngine,
  samples,
} from '../../../engine/index.ts';
import { type Posted, SECRET, type TestWorkspace } from './workspace.ts';

export interface EngineHere {
  engine: Engine;
  /** Runs an operation as a person in the Chair seat, or as another caller; returns the answer in wire form. */
  call<K extends keyof Api>(
    operation: K,
    ...input: [...ApiInput<K>, caller?: Partial<Caller> | undefined]
  ): Promise<Api[K]['output']>;
  /** Does the same as `call` for arguments that the compiler would reject. */
  callByName(operation: string, input?: unknown, caller?: Partial<Caller>): Promise<unknown>;
  /** Registers plain sessions with these names. */
  join(...names: string[]): Promise<void>;
  /** Sends a signed request from outside; its task waits for a decision. */
  ask(prompt: string, wish?: { agent?: string; project?: string; now?: number }): Promise<Posted>;
  /** Closes the engine; its workers keep running. */
  close(): Promise<void>;
  /** Ends its workers and closes it, in the last hook of a suite, even after a failure. */
  end(): Promise<void>;
}

/** Opens the workspace's engine in this process, so that tests can call it without a socket. */
export async function engineHere(
  ws: TestWorkspace,
  options: Omit<OpenOptions, 'file' | 'env'> = {},
): Promise<EngineHere> {
  const engine = await openEngine({ file: join(ws.root, 'svc.yaml'), env: ws.env, ...options });
  const person: Caller = { seat: 'chair', actor: 'ada', via: 'tui', sessionId: null, project: null, env: {} };
  const callByName: EngineHere['callByName'] = async (operation, input = {}, caller = {}) =>
    engine.operations.call(operation, input, { ...person, ...caller });
  let listener: ReturnType<Engine['listen']> | undefined;
  return {
    engine,
    call: (operation, ...[input, caller]) => callByName(operation, input, caller as Partial<Caller>) as never,
    callByName,
    async join(...names) {
      const seat = {
        kind: 'plain',
        project: null,
        agent: null,
        title: null,
        notifyBase: null,
        pid: null,
      } as const;
      for (const name of names) await engine.attend({ ...seat, name });
    },
    async ask(prompt, wish = {}) {
      listener ??= engine.listen({
        host: '127.0.0.1',
        port: 0,
        secrets: [SECRET],
        allowRemote: false,
        onAccess: () => undefined,
      });
      const { host, port } = (await listener).address;
      const { buildSignedSample } = await samples();
      const { path, method, headers, body } = buildSignedSample({
        route: 'task',
        secret: SECRET,
        now: Date.now(),
        dispatch: true,
        approve: false,
        agent: 'scripted',
        prompt,
        ...wish,
      });
      const sent = await fetch(`http://${host}:${port}${path}`, { method, headers, body });
      if (!sent.ok) throw new Error(`the request was refused: ${await sent.text()}`);
      return (await sent.json()) as Posted;
    },
    close: () => engine.close(),
    async end() {
      await callByName('engine.stop', { stop_workers: true }).catch(() => undefined);
      await engine.close();
    },
  };
}
