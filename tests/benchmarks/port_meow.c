// What a step of Meow does, written plainly in C: a yardstick for the engine's speed. See port.py, which compiles it.
//
// The functions do what those of katz_env/games/meow/ do, mostly under the same names, so that all they write is the same byte
// by byte. Nothing is tuned, but that bit sets are written eight at a time from a table. Known when this is compiled are the
// numbers that the engine's compiler knows too, from the sizes of the fields; the other options travel in the record.

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define N NUM_PLAYERS
#define CARDS (3 * RANKS)
#define DECK (3 * KEPT)
#define TILES (TRICKS * ROUNDS)
#define FIRST_TILE (ROUNDS * DECK)

enum { PLAYING, OVER };
enum { WIN, SCORE };
enum { BLUE, PINK, GREEN };
enum { BOWL, FISHBONE, FISH, VASE };
enum { NO_LIMIT = -127 };

#if RANKS < 32
typedef int32_t Cards;
#else
typedef int64_t Cards;
#endif

// The record of rules.py.
typedef struct {
    uint64_t rng;
    Cards hand[N][3], played[N][3], undealt[3];  // bit sets by colour
    int16_t score[N], vase_scores[VASES + 1];
    int8_t row_type[TRICKS], row_kind[TRICKS][4], row_value[TRICKS], row_gone[TRICKS], next_kind[4], next_value;
    int8_t round_shown[ROUNDS], to_come[KINDS], won[N][KINDS], trick_colour[N][3], lacks[N][3], trick_rank[N];
    int8_t shown_score[N], gain[N], fish[N], vases[N], fish_gain[N], bone_limit[N], vase_gain[N];
    int8_t led, leader, played_count, trick, round_index, first_seat, marker, turn, phase;
    int8_t in_play[RANKS], tile_kind[KINDS], tile_value[KINDS], tile_count[KINDS], first_bone, first_fish, expert;
    int8_t last_card[N], deal[FIRST_TILE + TILES];
} Table;
_Static_assert(sizeof(Table) == RECORD_SIZE, "the record is not that of rules.py");

// The fields of observation.py.
typedef struct {
    int8_t hand[CARDS], trick_colour[N][3], trick_rank[N], lacks[N][3], led[3], leader[N], marker[N], turn[N];
    int8_t score[N], gain[N], won[N][KINDS], row_kind[TRICKS][4], row_value[TRICKS], row_gone[TRICKS];
    int8_t next_kind[4], next_value, to_come[KINDS], round[ROUNDS], trick, expert, over, played[N][CARDS];
} Observation;
_Static_assert(sizeof(Observation) == OBSERVATION_SIZE, "the observation is not that of observation.py");

static int min(int a, int b) { return a < b ? a : b; }
static int max(int a, int b) { return a > b ? a : b; }
static int next(int seat) { return seat + 1 < N ? seat + 1 : 0; }
static int shown(int number) { return max(-127, min(127, number)); }

// splitmix64
static inline int random_below(uint64_t *rng, int n) {
    uint64_t z = *rng += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    return (int)(((z >> 32) * (uint64_t)n) >> 32);
}

static void shuffle(Table *t, int8_t *cards, int size) {
    uint64_t rng = t->rng;
    for (int i = size - 1; i > 0; i--) {
        int j = random_below(&rng, i + 1);
        int8_t card = cards[i];
        cards[i] = cards[j];
        cards[j] = card;
    }
    t->rng = rng;
}

static void fill_deal(Table *t) {
    for (int k = 0; k < ROUNDS; k++) {
        int8_t *deck = &t->deal[k * DECK];
        for (int i = 0; i < DECK; i++) deck[i] = RANKS * (i / KEPT) + (i % KEPT == KEPT - 1 ? RANKS - 1 : i % KEPT);
        shuffle(t, deck, DECK);
    }
    int8_t *tiles = &t->deal[FIRST_TILE];
    for (int kind = 0, place = 0; kind < KINDS; kind++)
        for (int i = 0; i < t->tile_count[kind]; i++) tiles[place++] = kind;
    shuffle(t, tiles, TILES);
}

static int vase_step(const Table *t, int vases) { return t->vase_scores[min(vases + 1, VASES)] - t->vase_scores[vases]; }

// What a fish, a fishbone and a vase would do to the score of a seat: each fish takes the worst fishbone that is left.
static void note_tiles(Table *t, int seat) {
    int fish = t->fish[seat], worst = 0, limit = NO_LIMIT;
    for (int kind = t->first_fish - 1; kind >= t->first_bone; kind--) {
        int count = t->won[seat][kind];
        if (count > 0 && fish > 0) limit = t->tile_value[kind];
        if (count > fish && worst == 0) worst = -t->tile_value[kind];
        fish = max(0, fish - count);
    }
    t->fish_gain[seat] = worst;
    t->bone_limit[seat] = fish > 0 ? 0 : limit;
    t->vase_gain[seat] = shown(vase_step(t, t->vases[seat]));
}

static void start_trick(Table *t, int seat) {
    t->leader = t->turn = seat;
    t->led = -1;
    t->played_count = 0;
    memset(t->trick_colour, 0, sizeof t->trick_colour);
    memset(t->trick_rank, 0, sizeof t->trick_rank);
    memset(t->next_kind, 0, sizeof t->next_kind);
    memset(t->gain, 0, sizeof t->gain);
    t->next_value = 0;
    if (t->trick == TRICKS) return;
    memcpy(t->next_kind, t->row_kind[t->trick], 4);
    t->next_value = t->row_value[t->trick];
    for (int other = 0; other < N; other++) {
        if (t->next_kind[BOWL]) t->gain[other] = t->next_value;
        else if (t->next_kind[FISHBONE]) t->gain[other] = max(t->next_value, t->bone_limit[other]);
        else if (t->next_kind[FISH]) t->gain[other] = t->fish_gain[other];
        else t->gain[other] = t->vase_gain[other];
    }
}

static void open_round(Table *t) {
    memset(t->round_shown, 0, sizeof t->round_shown);
    t->round_shown[t->round_index] = 1;
    memset(t->played, 0, sizeof t->played);
    memset(t->lacks, 0, sizeof t->lacks);
    memset(t->row_kind, 0, sizeof t->row_kind);
    memset(t->row_gone, 0, sizeof t->row_gone);
    for (int k = 0; k < TRICKS; k++) {
        int kind = t->deal[FIRST_TILE + t->round_index * TRICKS + k];
        t->row_type[k] = kind;
        t->row_kind[k][t->tile_kind[kind]] = 1;
        t->row_value[k] = t->tile_value[kind];
        t->to_come[kind]--;
    }
    const int8_t *card = &t->deal[t->round_index * DECK];
    int64_t all = (((int64_t)1 << (KEPT - 1)) - 1) | (int64_t)1 << (RANKS - 1);
    for (int colour = 0; colour < 3; colour++) t->undealt[colour] = all;
    for (int seat = 0; seat < N; seat++) {
        memset(t->hand[seat], 0, sizeof t->hand[seat]);
        for (int i = 0; i < TRICKS; i++, card++) t->hand[seat][*card / RANKS] |= (int64_t)1 << (*card % RANKS);
        for (int colour = 0; colour < 3; colour++) t->undealt[colour] &= ~t->hand[seat][colour];
    }
    t->trick = 0;
    t->marker = (t->first_seat + t->round_index) % N;
    start_trick(t, t->marker);
}

static void deal(Table *t) {
    memset(t->won, 0, sizeof t->won);
    memset(t->fish, 0, sizeof t->fish);
    memset(t->vases, 0, sizeof t->vases);
    memset(t->last_card, -1, sizeof t->last_card);
    memcpy(t->to_come, t->tile_count, sizeof t->to_come);
    for (int seat = 0; seat < N; seat++) {
        t->score[seat] = t->vase_scores[0];
        t->shown_score[seat] = shown(t->score[seat]);
        note_tiles(t, seat);
    }
    t->round_index = 0;
    t->phase = PLAYING;
    open_round(t);
}

static void deal_random(Table *t) {
    do {
        t->first_seat = random_below(&t->rng, N);
        fill_deal(t);
        deal(t);
    } while (t->phase == OVER);
}

// Trumps if there are any, else the colour led: the highest of them, but the 1 if the highest card of the colour lies there too.
static int trick_winner(const Table *t) {
    int deciding = t->led, best = 0, winner = 0, one = -1;
    for (int seat = 0; seat < N; seat++)
        if (t->trick_colour[seat][GREEN]) deciding = GREEN;
    for (int seat = 0; seat < N; seat++) {
        if (!t->trick_colour[seat][deciding]) continue;
        if (t->trick_rank[seat] > best) best = t->trick_rank[seat], winner = seat;
        if (t->trick_rank[seat] == 1) one = seat;
    }
    return best == RANKS && one >= 0 ? one : winner;
}

static void take_tile(Table *t, int seat) {
    t->score[seat] += t->next_kind[VASE] ? vase_step(t, t->vases[seat]) : t->gain[seat];
    t->shown_score[seat] = shown(t->score[seat]);
    t->won[seat][t->row_type[t->trick]]++;
    if (t->next_kind[BOWL]) return;
    t->fish[seat] += t->next_kind[FISH];
    t->vases[seat] += t->next_kind[VASE];
    note_tiles(t, seat);
}

static void end_trick(Table *t) {
    int winner = trick_winner(t);
    take_tile(t, winner);
    t->row_gone[t->trick] = 1;
    t->trick++;
    if (t->trick < TRICKS) {
        start_trick(t, winner);
    } else if (t->round_index + 1 < ROUNDS) {
        t->round_index++;
        open_round(t);
    } else {
        start_trick(t, winner);
        t->phase = OVER;
    }
}

static void play_card(Table *t, int card) {
    int seat = t->turn, colour = card / RANKS, place = card % RANKS;
    t->hand[seat][colour] ^= (int64_t)1 << place;
    t->played[seat][colour] |= (int64_t)1 << place;
    t->trick_colour[seat][colour] = 1;
    t->trick_rank[seat] = place + 1;
    t->last_card[seat] = card;
    if (t->played_count == 0) t->led = colour;
    else if (colour != t->led) t->lacks[seat][t->led] = 1;
    if (++t->played_count < N) t->turn = next(seat);
    else end_trick(t);
}

// The only legal card of the seat to act; -1 if it has a choice.
static int forced_card(const Table *t) {
    const Cards *hand = t->hand[t->turn];
    int colour = t->led;
    if (colour < 0 || !hand[colour]) {
        if (t->trick < TRICKS - 1) return -1;  // any card may be played, and there are several
        colour = hand[BLUE] ? BLUE : hand[PINK] ? PINK : GREEN;
    }
    return hand[colour] & (hand[colour] - 1) ? -1 : RANKS * colour + __builtin_ctzll(hand[colour]);
}

static void play(Table *t, int card) {
    play_card(t, card);
    while (t->phase != OVER && (card = forced_card(t)) >= 0) play_card(t, card);
}

static uint64_t spread[256];  // the bits of a byte as eight bytes

__attribute__((constructor)) static void fill_spread(void) {
    for (int bits = 0; bits < 256; bits++)
        for (int i = 0; i < 8; i++) ((uint8_t *)&spread[bits])[i] = bits >> i & 1;
}

static inline void write_bits(int64_t bits, int size, void *out) {
    if (size < 8) {
        for (int i = 0; i < size; i++) ((int8_t *)out)[i] = bits >> i & 1;
        return;
    }
    for (int i = 0; i + 8 <= size; i += 8) memcpy((int8_t *)out + i, &spread[bits >> i & 255], 8);
    memcpy((int8_t *)out + size - 8, &spread[bits >> (size - 8) & 255], 8);
}

static inline void write_cards(int64_t blue, int64_t pink, int64_t green, void *out) {
    if (CARDS <= 64) {
        write_bits(blue | pink << RANKS % 64 | green << 2 * RANKS % 64, CARDS, out);
    } else {
        write_bits(blue, RANKS, out);
        write_bits(pink, RANKS, (int8_t *)out + RANKS);
        write_bits(green, RANKS, (int8_t *)out + 2 * RANKS);
    }
}

// The legal cards of the seat to act: those of the colour led, or all if it has none.
static void write_mask(const Table *t, bool *mask) {
    const Cards *hand = t->hand[t->turn];
    bool follows = t->led >= 0 && hand[t->led];
    write_cards(follows && t->led != BLUE ? 0 : hand[BLUE], follows && t->led != PINK ? 0 : hand[PINK],
                follows && t->led != GREEN ? 0 : hand[GREEN], mask);
}

static void write_outcome(const Table *t, int reward, float *rewards, int16_t *scores, int32_t *ranks) {
    int best = t->score[0], winners = 0;
    for (int seat = 0; seat < N; seat++) {
        scores[seat] = ranks[seat] = t->score[seat];
        best = max(best, t->score[seat]);
    }
    for (int seat = 0; seat < N; seat++) winners += ranks[seat] == best;
    for (int seat = 0; seat < N; seat++)
        rewards[seat] = reward == SCORE ? scores[seat] : (ranks[seat] == best ? 1.0 / winners : 0.0) - 1.0 / N;
}

// What the seat to act sees; seats are counted from it.
static void write_observation(const Table *restrict t, Observation *restrict out) {
    write_cards(t->hand[t->turn][BLUE], t->hand[t->turn][PINK], t->hand[t->turn][GREEN], out->hand);
    for (int colour = 0; colour < 3; colour++) out->led[colour] = colour == t->led;
    for (int i = 0, seat = t->turn; i < N; i++, seat = next(seat)) {
        memcpy(out->trick_colour[i], t->trick_colour[seat], 3);
        memcpy(out->lacks[i], t->lacks[seat], 3);
        memcpy(out->won[i], t->won[seat], KINDS);
        out->trick_rank[i] = t->trick_rank[seat];
        out->leader[i] = seat == t->leader;
        out->marker[i] = seat == t->marker;
        out->turn[i] = seat == t->turn;
        out->score[i] = t->shown_score[seat];
        out->gain[i] = t->gain[seat];
        write_cards(t->played[seat][BLUE], t->played[seat][PINK], t->played[seat][GREEN], out->played[i]);
    }
    memcpy(out->row_kind, t->row_kind, sizeof t->row_kind);
    memcpy(out->row_value, t->row_value, TRICKS);
    memcpy(out->row_gone, t->row_gone, TRICKS);
    memcpy(out->next_kind, t->next_kind, 4);
    out->next_value = t->next_value;
    memcpy(out->to_come, t->to_come, KINDS);
    memcpy(out->round, t->round_shown, ROUNDS);
    out->trick = t->trick;
    out->expert = t->expert;
    out->over = t->phase == OVER;
}

// Play actions[k] at table where[k]. Returns the first k whose action is illegal, with nothing changed, or -1.
int64_t step(Table *records, const int64_t *where, const int64_t *actions, int64_t count, int64_t num_actions, int reward,
             Observation *observations, bool *masks, int8_t *turn, float (*rewards)[N], bool *terminated, int16_t (*scores)[N],
             int32_t (*ranks)[N], Table *final_records) {
    for (int64_t k = 0; k < count; k++) {
        const Table *t = &records[where[k]];
        bool legal = actions[k] >= 0 && actions[k] < num_actions && masks[where[k] * num_actions + actions[k]];
        if (!legal && t->phase != OVER) return k;
    }
    for (int64_t k = 0; k < count; k++) {
        int64_t i = where[k];
        Table *t = &records[i];
        if (terminated[i]) {
            terminated[i] = false;
            memset(rewards[i], 0, sizeof rewards[i]);
            memset(scores[i], 0, sizeof scores[i]);
        }
        if (t->phase != OVER) {
            play(t, actions[k]);
            if (t->phase == OVER) {
                terminated[i] = true;
                write_outcome(t, reward, rewards[i], scores[i], ranks[i]);
                final_records[i] = *t;
            }
        }
        if (t->phase == OVER) deal_random(t);
        write_mask(t, &masks[i * num_actions]);
#ifndef WITHOUT_OBSERVATIONS
        write_observation(t, &observations[i]);
#endif
        turn[i] = t->turn;
    }
    return -1;
}
