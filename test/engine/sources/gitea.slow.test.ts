import { describePolledHost } from '../../support/polled-host.ts';

describePolledHost('gitea', {
  quiet: ['GET /repos/acme/shop/issues 200', 'GET /repos/acme/shop/issues/comments 200'],
  hook: { header: 'x-gitea-event', parts: { action: 'label_updated' } },
  limits: () => [
    [{ status: 503, headers: { 'retry-after': '600' }, body: 'busy' }, /status 503/, 599_000],
    [{ status: 429, headers: { 'retry-after': '120' }, body: 'slow down' }, /limits the requests/, 119_000],
  ],
  login: 'tea logins add',
  withoutLogin: [{ XDG_CONFIG_HOME: '/nonexistent' }, /tea is not logged in to localhost.*tea logins add/],
  hostVariable: null,
});
