import type { TestWorkspace } from './workspace.ts';

/** Registers plain sessions, as agents do that a person started manually under these names. */
export async function takePart(ws: Pick<TestWorkspace, 'svc'>, ...names: readonly string[]): Promise<void> {
  for (const name of names) await ws.svc(['msg', 'inbox'], { env: { SVC_SESSION: name } });
}
