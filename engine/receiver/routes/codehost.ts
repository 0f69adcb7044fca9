import { parseJsonBody, readFormPayload } from '../../core/http/body.ts';
import { findHeader, SCHEMES } from '../../core/http/signature.ts';
import { type PullRequestNews, readCodeHostEvent } from '../codehost-event.ts';
import type { CodeHostIntake } from '../codehost-intake.ts';
import type { TaskIntake } from '../intake.ts';
import { jsonAnswer, type ReceiverAnswer } from '../request.ts';
import type { ReceiverRoute } from './route.ts';

export const EVENT_HEADERS = ['x-codehost-event', 'x-github-event', 'x-gitea-event', 'x-forgejo-event'];

/**
 * Has the watched pull requests of a repository asked about soon: their host, not the event, says what has changed.
 * Returns false if none is watched there.
 */
export type LookAtPullRequests = (news: Omit<PullRequestNews, 'kind'>) => boolean;

/**
 * Creates the route `POST /codehost`: issues and `/svc` comments of a code-hosting service. The scheme signs no time,
 * so an issue or comment creates one task, ever.
 */
export function createCodehostRoute({
  intake,
  codeHost,
  lookAtPullRequests,
}: {
  intake: Pick<TaskIntake, 'answerWithTask'>;
  codeHost: CodeHostIntake;
  lookAtPullRequests: LookAtPullRequests;
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
      if (work.kind === 'pull_request')
        return lookAtPullRequests(work)
          ? jsonAnswer(200, { looking: true })
          : ignoredAnswer('no pull request is watched there');
      const taken = codeHost.takeWork(work);
      return 'ignored' in taken
        ? ignoredAnswer(taken.ignored)
        : intake.answerWithTask(taken.task, taken.isNew ? 201 : 200);
    },
  };
}
