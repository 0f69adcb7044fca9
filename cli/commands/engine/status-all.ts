import { asSvcError } from '../../../engine/core/base/errors.ts';
import {
  connectToEngine,
  type EngineStatus,
  machineWorkspaces,
  type RegisteredWorkspace,
  type WireValue,
  type WorkspaceWord,
} from '../../../engine/index.ts';
import type { CommandContext } from '../../command.ts';
import { formatRows, type TextColumn } from '../../print.ts';

/** How long each engine has to answer, all of them concurrently. */
const PATIENCE_MS = 2000;

/** One workspace of the machine, as `svc status --all --json` prints it. */
interface WorkspaceStatus {
  workspace: string;
  root: string;
  /** The id of its data folder. */
  id: string;
  state: WorkspaceWord;
  /** The problem, a sentence without its end; null if the engine is running or was stopped. */
  problem: string | null;
  /** When its engine started last, ISO 8601. */
  started_at: string;
  /** The output of `svc status` there; null if no engine has answered. */
  status: WireValue<EngineStatus> | null;
}

/** Asks the engines of all workspaces of this machine; a hanging engine does not delay the rest. */
export async function readAllStatus(env: NodeJS.ProcessEnv) {
  const { readRegistry } = await machineWorkspaces();
  const { workspaces, faults } = readRegistry(env);
  return { rows: await Promise.all(workspaces.map((each) => readWorkspaceStatus(each, env))), faults };
}

/** Prints a line for each workspace of this machine. */
export async function showAllStatus(
  context: Pick<CommandContext, 'env' | 'stdout' | 'result' | 'note' | 'remark'>,
) {
  const { rows, faults } = await readAllStatus(context.env);
  const text = await formatRows(rows, COLUMNS, context.stdout);
  context.result(rows, () => text);
  if (rows.length === 0) context.note('no engine has been started on this machine yet; svc up starts one');
  for (const { workspace, root, state, problem } of rows)
    if (problem !== null) context.note(`${workspace} (${root}) is ${state}: ${problem}`);
  for (const { path, why } of faults) context.remark(`note: ${path} was left out: ${why}`);
}

async function readWorkspaceStatus(
  each: RegisteredWorkspace,
  env: NodeJS.ProcessEnv,
): Promise<WorkspaceStatus> {
  const { findGone, placeOfWorkspace, readDaemonRecord } = await machineWorkspaces();
  const of = (
    state: WorkspaceWord,
    problem: string | null,
    status: WorkspaceStatus['status'] = null,
  ): WorkspaceStatus => ({
    workspace: status?.workspace ?? each.name,
    root: each.root,
    id: each.id,
    state,
    problem,
    started_at: status?.started_at ?? each.startedAt,
    status,
  });
  const gone = findGone(each);
  if (gone !== null) return of('gone', `${gone}; it is removed from the list when an engine starts`);
  try {
    const client = await connectToEngine({ ...placeOfWorkspace(each, env), patienceMs: PATIENCE_MS });
    try {
      return of('running', null, await client.call('engine.status'));
    } finally {
      client.close();
    }
  } catch (thrown) {
    const { code, message } = asSvcError(thrown);
    const record = readDaemonRecord(each.data);
    if (code === 'engine_unreachable')
      return of(
        'stuck',
        `its engine${record === null ? '' : ` (pid ${record.pid})`} did not answer within ${PATIENCE_MS / 1000} s; svc doctor there shows more`,
      );
    if (code !== 'engine_not_running') return of('refused', message);
    return record === null
      ? of('stopped', null)
      : of('crashed', `its engine (pid ${record.pid}) ended unexpectedly; svc up there starts it again`);
  }
}

const COLUMNS: readonly TextColumn<WorkspaceStatus>[] = [
  { head: 'workspace', value: (row) => row.workspace },
  { head: 'state', value: (row) => row.state },
  { head: 'live', value: (row) => row.status?.workers.running, right: true },
  { head: 'queued', value: (row) => row.status?.workers.queued, right: true },
  { head: 'decisions', value: (row) => row.status?.decisions_pending, right: true },
  { head: 'asks', value: (row) => row.status?.asks_open, right: true },
  { head: 'folder', value: (row) => row.root, flexible: true },
];
