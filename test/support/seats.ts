import type { TestWorkspace } from './workspace.ts';

/** Plain sessions that take part, as agents do that a person has started by hand under these names. */
export async function takePart(ws: Pick<TestWorkspace, 'svc'>, ...names: readonly string[]): Promise<void> {
  for (const name of names) await ws.svc(['msg', 'inbox'], { env: { SVC_SESSION: name } });
}
