import { describePolledHost } from '../../support/polled-host.ts';

describePolledHost('gitlab', {
  quiet: ['GET /projects/acme%2Ftools%2Fshop/issues 304', 'GET /projects/acme%2Ftools%2Fshop/events 304'],
  hook: null,
  limits: (inAnHour) => [
    [
      {
        status: 429,
        headers: { 'ratelimit-remaining': '0', 'ratelimit-reset': String(inAnHour) },
        body: 'Retry later',
      },
      /limits the requests/,
      3500_000,
    ],
    [{ status: 429, headers: { 'retry-after': '120' }, body: 'Retry later' }, /limits the requests/, 119_000],
  ],
  login: 'glab auth login',
  withoutLogin: [{ GITLAB_TOKEN: '' }, /refused.*401 Unauthorized \(glab auth login/],
  hostVariable: 'GITLAB_HOST',
});
