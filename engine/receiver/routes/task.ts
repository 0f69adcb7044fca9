import { hash } from 'node:crypto';
import { SvcError } from '../../base/errors.ts';
import type { Tasks } from '../../board/tasks/index.ts';
import {
  type FieldProblem,
  fieldsInvalid,
  flagField,
  type JsonObject,
  parseJson,
  textField,
} from '../body.ts';
import type { Incoming, Intake } from '../intake.ts';
import type { Receipts } from '../receipts.ts';
import type { Answer, InboundRequest } from '../request.ts';
import { SCHEMES } from '../signature.ts';
import type { Route } from './route.ts';

const IDEMPOTENCY_MS = 24 * 3_600_000;

interface Fields {
  template: string | undefined;
  agent: string | undefined;
  prompt: string | undefined;
  project: string | undefined;
  dispatch: boolean;
  approve: boolean;
}

/** `POST /task`: a task from a template, or from an agent and a prompt. Fields that it does not know are ignored. */
export function createTaskRoute({
  intake,
  receipts,
  tasks,
}: {
  intake: Intake;
  receipts: Receipts;
  tasks: Tasks;
}): Route {
  function create(request: InboundRequest): Answer {
    const fields = readFields(parseJson(request.body));
    const named: Pick<Incoming, 'template' | 'agent' | 'project' | 'timeoutSec' | 'prompt'> =
      fields.template === undefined
        ? { template: null, agent: fields.agent!, project: null, timeoutSec: null, prompt: fields.prompt! }
        : intake.fromTemplate(fields.template);
    const incoming: Incoming = {
      ...named,
      project: fields.project ?? named.project,
      source: 'task',
      sourceRef: request.remote === '' ? null : request.remote,
      actor: 'webhook',
    };
    return intake.answer(intake.submit(incoming, fields), 201);
  }

  return {
    method: 'POST',
    scheme: SCHEMES.svc,
    safe: false,
    handle(request) {
      const key = idempotencyKey(request.headers['idempotency-key']);
      if (key === null) return create(request);
      const fingerprint = hash('sha256', request.body);
      const found = receipts.find(key);
      if (found !== null) {
        if (found.fingerprint === fingerprint) return intake.answer(tasks.get(found.taskId), 200);
        throw new SvcError(
          'idempotency_conflict',
          `this Idempotency-Key made ${found.taskId} from another body`,
          {
            hint: 'a key is for one request: the same bytes each time, nonce included',
            data: { task_id: found.taskId },
          },
        );
      }
      const answer = create(request);
      receipts.keep(key, { taskId: answer.taskId!, fingerprint }, IDEMPOTENCY_MS);
      return answer;
    },
  };
}

function idempotencyKey(value: string | string[] | undefined): string | null {
  if (value === undefined) return null;
  if (typeof value === 'string' && /^[\x20-\x7e]{1,255}$/.test(value)) return `idempotency:${value}`;
  throw fieldsInvalid([
    { field: 'Idempotency-Key', problem: 'must be 1 to 255 printable ASCII characters, once' },
  ]);
}

function readFields(body: JsonObject): Fields {
  const problems: FieldProblem[] = [];
  const fields: Fields = {
    template: textField(body, 'template', problems),
    agent: textField(body, 'agent', problems),
    prompt: textField(body, 'prompt', problems),
    project: textField(body, 'project', problems),
    dispatch: flagField(body, 'dispatch', problems),
    approve: flagField(body, 'approve', problems),
  };
  const has = { template: 'template' in body, agent: 'agent' in body, prompt: 'prompt' in body };
  const add = (field: string, problem: string) => {
    if (!problems.some((each) => each.field === field)) problems.push({ field, problem });
  };
  if (has.template && (has.agent || has.prompt)) {
    add('template', 'cannot be given together with agent or prompt');
    if (has.agent) add('agent', 'cannot be given together with template');
    if (has.prompt) add('prompt', 'cannot be given together with template');
  } else if (!has.template && !has.agent && !has.prompt) {
    add('template', 'is needed, unless agent and prompt are given');
    add('agent', 'is needed with prompt, unless template is given');
    add('prompt', 'is needed with agent, unless template is given');
  } else if (!has.template && !has.prompt) add('prompt', 'is needed with agent');
  else if (!has.template && !has.agent) add('agent', 'is needed with prompt');
  if (problems.length > 0) throw fieldsInvalid(problems);
  return fields;
}
