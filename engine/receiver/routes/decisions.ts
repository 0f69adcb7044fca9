import type { Decision, Decisions } from '../../board/decisions/index.ts';
import type { Tasks } from '../../board/tasks/index.ts';
import { type Workflow, whyReplaced } from '../../board/workflow/index.ts';
import type { CallAuthor } from '../../core/api/operation.ts';
import { formatId, parseId } from '../../core/base/ids.ts';
import {
  type FieldProblem,
  fieldsInvalidError,
  type JsonObject,
  parseJsonBody,
  readTextField,
  refuseOwnEvent,
} from '../../core/http/body.ts';
import { SCHEMES } from '../../core/http/signature.ts';
import { problemAnswer } from '../problem.ts';
import { type InboundRequest, jsonAnswer, type ReceiverAnswer } from '../request.ts';
import type { ReceiverRoute } from './route.ts';

const BY: CallAuthor = { actor: 'webhook', via: 'task' };

/**
 * Creates the routes `GET /decisions/{id}`, `POST /decisions/{id}/approve` and `/deny`. The scheme signs neither path
 * nor id, so a body may name the decision (then it must be the path's) and carry a `nonce`. Ids are exact here, never
 * prefixes.
 */
export function createDecisionRoutes({
  workflow,
  decisions,
  tasks,
}: {
  workflow: Workflow;
  decisions: Decisions;
  tasks: Tasks;
}): { poll: ReceiverRoute; approve: ReceiverRoute; deny: ReceiverRoute } {
  function answerDecision(decision: Decision): ReceiverAnswer {
    return jsonAnswer(
      200,
      {
        decision_id: decision.decisionId,
        task_id: decision.taskId,
        state: decision.state,
        kind: decision.kind,
        created_at: decision.createdAt,
        decided_at: decision.decidedAt,
        decided_by: decision.decidedBy,
        dispatched: decision.sessionId !== null,
        session_id: decision.sessionId,
        task_status: tasks.get(decision.taskId).status,
      },
      decision.taskId,
    );
  }

  const signed = { scheme: SCHEMES.svc } as const;
  return {
    poll: {
      ...signed,
      method: 'GET',
      safe: true,
      handle: (_request, id) => answerDecision(decisions.get(id)),
    },
    approve: {
      ...signed,
      method: 'POST',
      safe: false,
      handle(request, id) {
        const { decisionId } = readDecisionBody(request, id);
        const approved = workflow.approve(decisionId, BY);
        const refused = whyReplaced(approved);
        // Returned, not thrown: the decision that is pending now must be kept.
        return refused === null ? answerDecision(approved.decision) : problemAnswer(refused);
      },
    },
    deny: {
      ...signed,
      method: 'POST',
      safe: false,
      handle(request, id) {
        const { decisionId, reason } = readDecisionBody(request, id);
        return answerDecision(workflow.deny(decisionId, reason ?? 'denied by a signed request', BY).decision);
      },
    },
  };
}

function readDecisionBody(
  request: InboundRequest,
  id: string,
): { decisionId: string; reason: string | undefined } {
  const body: JsonObject = parseJsonBody(request.body);
  const problems: FieldProblem[] = [];
  refuseOwnEvent(body, problems);
  const named = readTextField(body, 'decision_id', problems);
  const reason = readTextField(body, 'reason', problems);
  if (problems.length > 0) throw fieldsInvalidError(problems);
  const decisionId = formatId('d', parseId('d', id));
  if (named !== undefined && named !== decisionId) {
    throw fieldsInvalidError([{ field: 'decision_id', problem: `is not the ${decisionId} of the path` }]);
  }
  return { decisionId, reason };
}
