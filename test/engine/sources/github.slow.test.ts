import { describePolledHost } from '../../support/polled-host.ts';

describePolledHost('github', {
  quiet: ['GET /repos/acme/shop/issues 304', 'GET /repos/acme/shop/issues/comments 304'],
  hook: { header: 'x-github-event', parts: { action: 'labeled', label: { name: 'svc' } } },
  limits: (inAnHour) => [
    [
      { status: 403, headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(inAnHour) } },
      /limits the requests/,
      3500_000,
    ],
    [{ status: 429, headers: { 'retry-after': '120' } }, /limits the requests/, 119_000],
    [{ status: 403, body: '{"message":"You have exceeded a secondary rate limit"}' }, /secondary/, 59_000],
  ],
  login: 'gh auth login',
  withoutLogin: [{ GH_ENTERPRISE_TOKEN: '' }, /gh auth login/],
  hostVariable: 'GH_HOST',
});
