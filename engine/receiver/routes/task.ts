import { hash } from 'node:crypto';
import type { Tasks } from '../../board/tasks/index.ts';
import { SvcError } from '../../core/base/errors.ts';
import {
  type FieldProblem,
  fieldsInvalidError,
  type JsonObject,
  parseJsonBody,
  readFlagField,
  readTextField,
} from '../../core/http/body.ts';
import { SCHEMES } from '../../core/http/signature.ts';
import type { ParsedTask, TaskIntake } from '../intake.ts';
import type { RequestReceipts } from '../receipts.ts';
import type { InboundRequest, ReceiverAnswer } from '../request.ts';
import type { ReceiverRoute } from './route.ts';

const IDEMPOTENCY_MS = 24 * 3_600_000;

interface Fields {
  template: string | undefined;
  agent: string | undefined;
  prompt: string | undefined;
  project: string | undefined;
  dispatch: boolean;
  approve: boolean;
}

/** Creates the route `POST /task`: a task from a template, or from an agent and a prompt. Unknown fields are ignored. */
export function createTaskRoute({
  intake,
  receipts,
  tasks,
}: {
  intake: TaskIntake;
  receipts: RequestReceipts;
  tasks: Tasks;
}): ReceiverRoute {
  function createTask(request: InboundRequest): ReceiverAnswer {
    const fields = readFields(parseJsonBody(request.body));
    const named: Pick<ParsedTask, 'template' | 'agent' | 'project' | 'timeoutSec' | 'prompt'> =
      fields.template === undefined
        ? { template: null, agent: fields.agent!, project: null, timeoutSec: null, prompt: fields.prompt! }
        : intake.fromTemplate(fields.template);
    const incoming: ParsedTask = {
      ...named,
      project: fields.project ?? named.project,
      source: 'task',
      sourceRef: request.remote === '' ? null : request.remote,
      actor: 'webhook',
      author: null,
    };
    return intake.answerWithTask(intake.submitTask(incoming, fields), 201);
  }

  return {
    method: 'POST',
    scheme: SCHEMES.svc,
    safe: false,
    handle(request) {
      const key = readIdempotencyKey(request.headers['idempotency-key']);
      if (key === null) return createTask(request);
      const fingerprint = hash('sha256', request.body);
      const found = receipts.findReceipt(key);
      if (found !== null) {
        if (found.fingerprint === fingerprint) return intake.answerWithTask(tasks.get(found.taskId), 200);
        throw new SvcError(
          'idempotency_conflict',
          `this Idempotency-Key already created ${found.taskId} from a different body`,
          {
            hint: 'use a key for one request only: the same bytes each time, nonce included',
            data: { task_id: found.taskId },
          },
        );
      }
      const answer = createTask(request);
      receipts.keepReceipt(key, { taskId: answer.taskId!, fingerprint }, IDEMPOTENCY_MS);
      return answer;
    },
  };
}

function readIdempotencyKey(value: string | string[] | undefined): string | null {
  if (value === undefined) return null;
  if (typeof value === 'string' && /^[\x20-\x7e]{1,255}$/.test(value)) return `idempotency:${value}`;
  throw fieldsInvalidError([
    { field: 'Idempotency-Key', problem: 'must be 1 to 255 printable ASCII characters, once' },
  ]);
}

function readFields(body: JsonObject): Fields {
  const problems: FieldProblem[] = [];
  const fields: Fields = {
    template: readTextField(body, 'template', problems),
    agent: readTextField(body, 'agent', problems),
    prompt: readTextField(body, 'prompt', problems),
    project: readTextField(body, 'project', problems),
    dispatch: readFlagField(body, 'dispatch', problems),
    approve: readFlagField(body, 'approve', problems),
  };
  const has = { template: 'template' in body, agent: 'agent' in body, prompt: 'prompt' in body };
  const addProblem = (field: string, problem: string) => {
    if (!problems.some((each) => each.field === field)) problems.push({ field, problem });
  };
  if (has.template && (has.agent || has.prompt)) {
    addProblem('template', 'cannot be given together with agent or prompt');
    if (has.agent) addProblem('agent', 'cannot be given together with template');
    if (has.prompt) addProblem('prompt', 'cannot be given together with template');
  } else if (!has.template && !has.agent && !has.prompt) {
    addProblem('template', 'is required, unless agent and prompt are given');
    addProblem('agent', 'is required with prompt, unless template is given');
    addProblem('prompt', 'is required with agent, unless template is given');
  } else if (!has.template && !has.prompt) addProblem('prompt', 'is required with agent');
  else if (!has.template && !has.agent) addProblem('agent', 'is required with prompt');
  if (problems.length > 0) throw fieldsInvalidError(problems);
  return fields;
}
