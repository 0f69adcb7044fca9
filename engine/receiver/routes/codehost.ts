import { parseJsonBody, readFormPayload } from '../../core/http/body.ts';
import { findHeader, SCHEMES } from '../../core/http/signature.ts';
import { readCodeHostEvent } from '../codehost-event.ts';
import type { CodeHostIntake } from '../codehost-intake.ts';
import type { TaskIntake } from '../intake.ts';
import { jsonAnswer, type ReceiverAnswer } from '../request.ts';
import type { ReceiverRoute } from './route.ts';

export const EVENT_HEADERS = ['x-codehost-event', 'x-github-event', 'x-gitea-event', 'x-forgejo-event'];

/**
 * Creates the route `POST /codehost`: issues and `/svc` comments of a code-hosting service. The scheme signs no time,
 * so an issue or comment creates one task, ever.
 */
export function createCodehostRoute({
  intake,
  codeHost,
}: {
  intake: Pick<TaskIntake, 'answerWithTask'>;
  codeHost: CodeHostIntake;
}): ReceiverRoute {
  const ignoredAnswer = (reason: string): ReceiverAnswer => jsonAnswer(200, { ignored: true, reason });

  return {
    method: 'POST',
    scheme: SCHEMES.codehost,
    safe: false,
    handle(request) {
      const name = findHeader(request.headers, EVENT_HEADERS) ?? null;
      // The signature covers the received bytes, and was checked before.
      const body = readFormPayload(request.body, findHeader(request.headers, ['content-type']));
      const work = readCodeHostEvent(name, parseJsonBody(body), body);
      if (work.kind === 'ignored') return ignoredAnswer(work.reason);
      const taken = codeHost.takeWork(work);
      return 'ignored' in taken
        ? ignoredAnswer(taken.ignored)
        : intake.answerWithTask(taken.task, taken.isNew ? 201 : 200);
    },
  };
}
