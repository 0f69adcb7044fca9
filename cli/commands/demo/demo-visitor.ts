import { SvcError } from '../../../engine/core/base/errors.ts';

/** The response of a page of a linked server. */
export interface VisitedPage {
  status: number;
  html: string;
}

/** Opens pages of a linked server and sends their forms, as a browser of one person does. */
export interface DemoVisitor {
  open(path: string): Promise<VisitedPage>;
  /** Sends a form, follows redirects, and throws if it was refused. */
  send(path: string, fields: Record<string, string> | [name: string, value: string][]): Promise<VisitedPage>;
}

export function createVisitor(server: string): DemoVisitor {
  let cookie = '';
  async function requestPage(path: string, init: RequestInit): Promise<VisitedPage> {
    const answer = await fetch(new URL(path, server), {
      ...init,
      redirect: 'manual',
      headers: { origin: server, ...(cookie === '' ? {} : { cookie }) },
    });
    const [set] = answer.headers.getSetCookie();
    if (set !== undefined) cookie = set.split(';', 1)[0] ?? '';
    const next = answer.headers.get('location');
    const html = await answer.text();
    return answer.status === 303 && next !== null ? requestPage(next, {}) : { status: answer.status, html };
  }
  return {
    open: (path) => requestPage(path, {}),
    async send(path, fields) {
      const page = await requestPage(path, { method: 'POST', body: new URLSearchParams(fields) });
      if (page.status >= 400)
        throw new SvcError('internal', `the demo's server answered ${page.status} to a form of ${path}`);
      return page;
    },
  };
}
