import { randomInt, randomUUID } from 'node:crypto';
import { SvcError } from '../core/base/errors.ts';
import { SCHEMES, signRequest } from '../core/http/signature.ts';
import { WORKSPACE_HEADER } from './workspace-header.ts';

/** The routes that `svc webhook test` can try. */
export type SampleRoute = 'task' | 'codehost' | 'chat' | 'approve' | 'poll';

export interface SampleWish {
  route: SampleRoute;
  agent?: string | undefined;
  prompt?: string | undefined;
  /** On /codehost, sends a `/svc` comment instead of an opened issue. */
  template?: string | undefined;
  /** This and the next: /task only. */
  dispatch?: boolean | undefined;
  approve?: boolean | undefined;
  /** /task only. */
  project?: string | undefined;
  /** Id for `approve` and `poll`. */
  decision?: string | undefined;
  /** The intended workspace, as `formatWorkspaceHeader` writes it; absent for any workspace. */
  workspace?: string | undefined;
  secret: string;
  /** Unix milliseconds. */
  now: number;
}

/** A request ready to be sent; `body` is byte for byte what was signed. */
export interface SampleRequest {
  method: 'GET' | 'POST';
  path: string;
  headers: Record<string, string>;
  body: string;
}

/** Builds a realistic, unique signed request for a route. Throws `usage` when the route needs more input. */
export function buildSignedSample(wish: SampleWish): SampleRequest {
  const sample = buildSample(wish);
  return wish.workspace === undefined
    ? sample
    : { ...sample, headers: { ...sample.headers, [WORKSPACE_HEADER]: wish.workspace } };
}

function buildSample(wish: SampleWish): SampleRequest {
  switch (wish.route) {
    case 'task':
      return signAsSvc(wish, 'POST', '/task', JSON.stringify(buildTaskBody(wish)));
    case 'approve': {
      const decision_id = requireValue(wish.decision, wish.route, 'decision id');
      const body = JSON.stringify({ decision_id, nonce: randomUUID() });
      return signAsSvc(wish, 'POST', `/decisions/${decision_id}/approve`, body);
    }
    case 'poll':
      return signAsSvc(
        wish,
        'GET',
        `/decisions/${requireValue(wish.decision, wish.route, 'decision id')}`,
        '',
      );
    case 'codehost':
      return signAsCodehost(wish);
    case 'chat':
      return signAsChat(wish);
  }
}

function requireValue(value: string | undefined, route: SampleRoute, what: string): string {
  if (value !== undefined && value !== '') return value;
  throw new SvcError('usage', `a sample for ${route} needs a ${what}`);
}

function buildTaskBody({ template, agent, prompt, project, dispatch = false, approve = false }: SampleWish) {
  const what = template === undefined ? { agent, prompt } : { template };
  return { ...what, project, dispatch, approve, nonce: randomUUID() };
}

function signAsSvc(
  { secret, now }: SampleWish,
  method: 'GET' | 'POST',
  path: string,
  body: string,
): SampleRequest {
  const timestamp = String(Math.floor(now / 1000));
  const headers: Record<string, string> = {
    'X-Svc-Timestamp': timestamp,
    'X-Svc-Signature': signRequest(SCHEMES.svc, secret, timestamp, body),
  };
  if (method === 'POST') headers['Content-Type'] = 'application/json';
  return { method, path, headers, body };
}

function signAsCodehost({ template, prompt, secret, now }: SampleWish): SampleRequest {
  const repository = {
    id: 1,
    name: 'sample',
    full_name: 'svc/sample',
    html_url: 'http://localhost/svc/sample',
  };
  const number = randomInt(1, 100_000);
  const user = { login: 'svc-webhook-test', id: 1 };
  const text = requireValue(prompt, 'codehost', 'prompt');
  const issue = {
    id: randomInt(2 ** 47),
    number,
    title: template === undefined ? text : 'A sample issue',
    body: template === undefined ? 'Sent by svc webhook test.' : '',
    html_url: `${repository.html_url}/issues/${number}`,
    state: 'open',
    labels: [],
    user,
    author_association: 'OWNER',
    created_at: new Date(now).toISOString(),
  };
  const comment = {
    id: randomInt(2 ** 47),
    body: `/svc ${template} ${text}`,
    html_url: `${issue.html_url}#issuecomment-1`,
    user,
    author_association: 'OWNER',
  };
  const payload =
    template === undefined
      ? { action: 'opened', issue, repository, sender: user }
      : { action: 'created', issue, comment, repository, sender: user };
  const body = JSON.stringify({ ...payload, nonce: randomUUID() });
  return {
    method: 'POST',
    path: '/codehost',
    headers: {
      'Content-Type': 'application/json',
      'X-Codehost-Event': template === undefined ? 'issues' : 'issue_comment',
      'X-Hub-Signature-256': signRequest(SCHEMES.codehost, secret, '', body),
    },
    body,
  };
}

/** Picks the template for /chat, which takes nothing else; the agent's name serves as a fallback. */
function signAsChat({ template, agent, prompt, secret, now }: SampleWish): SampleRequest {
  const timestamp = String(Math.floor(now / 1000));
  const word = requireValue(template ?? agent, 'chat', 'template');
  const body = new URLSearchParams({
    team_domain: 'svc',
    channel_name: 'sample',
    user_id: 'U1',
    user_name: 'svc-webhook-test',
    command: '/svc',
    text: prompt === undefined ? word : `${word} ${prompt}`,
    trigger_id: randomUUID(),
  }).toString();
  return {
    method: 'POST',
    path: '/chat',
    headers: {
      'Content-Type': 'application/x-www-form-urlencoded',
      'X-Chat-Request-Timestamp': timestamp,
      'X-Chat-Signature': signRequest(SCHEMES.chat, secret, timestamp, body),
    },
    body,
  };
}
