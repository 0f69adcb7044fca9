import { describeWatchedHost } from '../../support/watched-host.ts';

describeWatchedHost('gitea');
