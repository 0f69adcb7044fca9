/** Words without meaning for a search, in English, German, French, Spanish, Chinese, Japanese and Korean; folded. */
const WORDS = `
a about after all also am an and any are as at be because been before being but by can could did do does doing for from
had has have having he her here hers him his how i if in into is it its just like me more most my no nor not of off on once
only or other our out over own please same she should so some such than that the their them then there these they this those
through to too under until up us very was we were what when where which while who whom whose why will with would you your
yours get got does shall may might must need want use using used way thing things
der die das den dem des ein eine einen einem einer eines und oder aber ist sind war waren wird werden wurde wurden sein hat
haben hatte ich du er sie es wir ihr mich mir dich dir ihn ihm uns euch mein dein unser kein keine keinen nicht auch nur noch
schon mit ohne fur gegen bei beim von vom zu zum zur auf aus an am im in um uber unter vor nach wie was wer wo warum wann
welche welcher welches welchen dass daß dass wenn als ob so man muss mussen soll sollen sollte kann konnen konnte darf durfen
fuer ueber koennen muessen duerfen dann doch hier da damit dort sich
le la les un une des du de et ou mais est sont etait ete etre a ont avoir je tu il elle nous vous ils elles mon ton son ma ta
sa mes tes ses ce cet cette ces qui que quoi dont ou comment pourquoi quand avec sans pour par sur sous dans en au aux ne pas
plus se si y on
el los las una unos unas y o pero es son era fue ser estar esta este esto ha han haber yo tu ella nosotros ellos mi su sus
que quien donde como por porque cuando con sin para sobre en al del no se lo le les hay mas muy
的 了 是 在 和 与 或 吗 呢 吧 啊 把 被 就 也 都 很 我 你 他 她 它 这 那 哪 个 们 有 要 会 能 可以 什么 怎么 如何 为什么 哪个 哪里 哪些 时候 应该 需要 我们 你们 他们 这个 那个 一个 是否 么样 怎样 么办 多少
は が を に へ と も の で や か な だ た て し い う る れ ん く す ま さ ら り こ そ あ お よ ね です ます した して する から まで など ない ある いる この その あの どの なに なぜ どう れる られ
어떻 떻게 무엇 언제 어디 어느 누가 있는 있나 하는 하나 합니 니다 니까 습니 됩니 인가 나요 까요 가요
こと もの ため よう とき いう ください のは には では とは って った ので のに すか ます ました ませ せん どこ いつ だれ どれ れば さい てく くだ ださ でし まし った にす をす がで でき きま きる
`;

export const STOP_WORDS: ReadonlySet<string> = new Set(WORDS.split(/\s+/).filter(Boolean));
