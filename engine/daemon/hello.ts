import { AGENT_MARKS } from '../core/access/agent-marks.ts';
import type { WireValue } from '../core/api/operation.ts';
import { accountName } from '../core/base/account.ts';
import { type HelloMessage, PROTOCOL } from './wire.ts';

/** Variables that apply to one call, not to the engine. */
const CALL_VARIABLES = [
  'SVC_GIT_BASE',
  'SVC_LEDGER_FORCE',
  'SVC_GATEWAY_BYPASS',
  'SVC_TASK_TOKEN_BUDGET',
  'SVC_AGENT_CMD',
  'SVC_AGENT_PRESET',
  'SVC_AGENT_TIMEOUT_SEC',
  'SVC_AGENT_TRANSPORT',
  'SVC_SESSION',
  'SVC_TASK',
  'SVC_NAME',
  'SVC_SESSION_NAME',
  'SVC_NOTIFY_URL',
  ...AGENT_MARKS,
];

/** Builds the first message of a connection. */
export const buildHello = ({
  cwd,
  env,
  via,
  attends,
}: {
  cwd: string;
  env: NodeJS.ProcessEnv;
  via: HelloMessage['via'];
  attends: boolean;
}): WireValue<HelloMessage> => ({
  protocol: PROTOCOL,
  pid: process.pid,
  actor: env.SVC_ACTOR || accountName(),
  via,
  run_id: env.SVC_RUN_ID ?? null,
  cwd,
  attends,
  env: Object.fromEntries(CALL_VARIABLES.flatMap((name) => (env[name] ? [[name, env[name]]] : []))),
});
