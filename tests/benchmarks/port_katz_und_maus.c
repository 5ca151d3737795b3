// What a step of Katz und Maus does, written plainly in C: a yardstick for the engine's speed. See port.py, which compiles it.
//
// The functions do what those of katz_env/games/katz_und_maus/ do, so that all they write is the same byte by byte. Every
// loop says what the rules say. Known when this is compiled are the numbers that the engine's compiler knows too, from the sizes
// of the fields; the other options travel in the record. With -DWITHOUT_OBSERVATIONS no observations are written, for a
// measurement of the rest.

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define KINDS (RANKS + 1)
#define WILD RANKS  // the kind of the kings is the last
#define CARDS (KINDS * COPIES)
#define SHOWN 8  // the upper cards of a deposit, which are shown in their order

// Where groups of action ids begin.
#define FROM_DEPOSIT (KINDS * STACKS)
#define FROM_STOCK (FROM_DEPOSIT + DEPOSITS * STACKS)
#define DISCARD (FROM_STOCK + STACKS)
#define END (DISCARD + KINDS * DEPOSITS)

enum { PLAYING, OVER };
enum { WIN, SCORE };

// The record of rules.py.
typedef struct {
    uint64_t rng;
    int16_t drawn;
    int8_t turn, phase, first_seat, merge_equal, ends_with_turn, stock_size, hand_size;
    int8_t hand_sizes[2], stock_sizes[2], stock_tops[2], heights[STACKS], hand[2][KINDS], hidden[KINDS];
    int8_t deposit_sizes[2][DEPOSITS], buried[2][DEPOSITS][KINDS], deposit_tops[2][DEPOSITS][SHOWN];
    int8_t deal[CARDS], deposited[2][DEPOSITS][DEPTH], padding[8];
} Table;
_Static_assert(sizeof(Table) == RECORD_SIZE, "the record is not that of rules.py");

// The fields of observation.py.
typedef struct {
    int8_t hand[KINDS], stock_tops[2][KINDS], stock_sizes[2], heights[STACKS], wanted[STACKS][RANKS];
    int8_t deposit_sizes[2][DEPOSITS], deposit_tops[2][DEPOSITS][SHOWN], buried[2][DEPOSITS][KINDS], unseen[KINDS];
    int8_t hand_sizes[2], talon, turn[2], second[2], over;
} Observation;
_Static_assert(sizeof(Observation) == OBSERVATION_SIZE, "the observation is not that of observation.py");

// splitmix64
static int random_below(uint64_t *rng, int n) {
    uint64_t z = *rng += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    return (int)(((z >> 32) * (uint64_t)n) >> 32);
}

static void shuffle(Table *t) {
    uint64_t rng = t->rng;  // the compiler cannot know that writing cards leaves the record's field alone
    for (int i = 0; i < CARDS; i++) t->deal[i] = i % KINDS;
    for (int i = CARDS - 1; i > 0; i--) {
        int j = random_below(&rng, i + 1);
        int8_t card = t->deal[i];
        t->deal[i] = t->deal[j];
        t->deal[j] = card;
    }
    t->rng = rng;
}

static void open_stock(Table *t, int seat) {
    int kind = t->deal[seat * t->stock_size + t->stock_size - t->stock_sizes[seat]];
    t->stock_tops[seat] = kind;
    t->hidden[kind]--;
}

static void draw(Table *t, int seat) {
    while (t->hand_sizes[seat] < t->hand_size && t->drawn < CARDS) {
        int kind = t->deal[t->drawn++];
        t->hand[seat][kind]++;
        t->hand_sizes[seat]++;
        t->hidden[kind]--;
    }
}

static void end_turn(Table *t) {
    draw(t, t->turn);
    if (t->drawn == CARDS && (t->turn != t->first_seat || t->ends_with_turn)) t->phase = OVER;
    else t->turn = 1 - t->turn;
}

static void lay_on_deposit(Table *t, int kind, int deposit) {
    int seat = t->turn;
    int8_t *tops = t->deposit_tops[seat][deposit];
    t->hand[seat][kind]--;
    t->hand_sizes[seat]--;
    t->deposited[seat][deposit][t->deposit_sizes[seat][deposit]++] = kind + 1;
    if (tops[0]) t->buried[seat][deposit][tops[0] - 1]++;
    memmove(tops, tops + 1, SHOWN - 1);
    tops[SHOWN - 1] = kind + 1;
}

static void take_from_deposit(Table *t, int deposit) {
    int seat = t->turn, size = --t->deposit_sizes[seat][deposit];
    int8_t *tops = t->deposit_tops[seat][deposit];
    t->deposited[seat][deposit][size] = 0;
    memmove(tops + 1, tops, SHOWN - 1);
    tops[0] = size >= SHOWN ? t->deposited[seat][deposit][size - SHOWN] : 0;
    if (tops[0]) t->buried[seat][deposit][tops[0] - 1]--;
}

static void move(Table *t, int action) {
    int seat = t->turn;
    if (action >= DISCARD) {
        if (action < END) lay_on_deposit(t, (action - DISCARD) / DEPOSITS, (action - DISCARD) % DEPOSITS);
        end_turn(t);
        return;
    }
    int8_t *height = &t->heights[action % STACKS];
    *height = *height + 1 == RANKS ? 0 : *height + 1;
    if (action >= FROM_STOCK) {
        if (--t->stock_sizes[seat]) {
            open_stock(t, seat);
        } else {
            t->stock_tops[seat] = -1;
            t->phase = OVER;
        }
    } else if (action >= FROM_DEPOSIT) {
        take_from_deposit(t, (action - FROM_DEPOSIT) / STACKS);
    } else {
        t->hand[seat][action / STACKS]--;
        if (--t->hand_sizes[seat] == 0) draw(t, seat);
    }
}

// Whether a stack, or a deposit for a discard, has an equal one with a lower number where only that may be chosen.
static bool merged_stack(const Table *t, int stack) {
    for (int other = 0; t->merge_equal && other < stack; other++) {
        if (t->heights[other] == t->heights[stack]) return true;
    }
    return false;
}
static bool merged_deposit(const Table *t, int deposit) {
    const int8_t *sizes = t->deposit_sizes[t->turn];
    for (int other = 0; t->merge_equal && !sizes[deposit] && other < deposit; other++) {
        if (!sizes[other]) return true;
    }
    return false;
}

// Write the legal actions, and return their number.
static int write_mask(const Table *t, bool *mask) {
    int seat = t->turn, count = 0;
    memset(mask, 0, END + 1);
    if (t->phase == OVER) return 0;
    for (int stack = 0; stack < STACKS; stack++) {
        int height = t->heights[stack], top = t->stock_tops[seat];
        if (merged_stack(t, stack)) continue;
        count += mask[STACKS * height + stack] = t->hand[seat][height] > 0;
        count += mask[STACKS * WILD + stack] = t->hand[seat][WILD] > 0;
        for (int deposit = 0; deposit < DEPOSITS; deposit++) {
            int kind = t->deposit_tops[seat][deposit][SHOWN - 1] - 1;
            count += mask[FROM_DEPOSIT + STACKS * deposit + stack] = kind == height || kind == WILD;
        }
        count += mask[FROM_STOCK + stack] = top == height || top == WILD;
    }
    bool open[DEPOSITS];
    int choices = 0;
    for (int deposit = 0; deposit < DEPOSITS; deposit++) choices += open[deposit] = !merged_deposit(t, deposit);
    for (int kind = 0; kind < KINDS; kind++) {
        bool held = t->hand[seat][kind] > 0;
        for (int deposit = 0; deposit < DEPOSITS; deposit++) mask[DISCARD + DEPOSITS * kind + deposit] = held & open[deposit];
        count += held * choices;
    }
    return count + (mask[END] = t->hand_sizes[seat] == 0 && t->drawn == CARDS);
}

// Play forced moves; the mask is that of the decision that is left, or of nothing.
static void settle(Table *t, bool *mask) {
    while (write_mask(t, mask) == 1) {
        int only = 0;
        while (!mask[only]) only++;
        move(t, only);
    }
}

static void deal(Table *t, bool *mask) {
    memset(t->hand, 0, sizeof t->hand);
    memset(t->hidden, COPIES, sizeof t->hidden);
    memset(t->heights, 0, sizeof t->heights);
    memset(t->deposit_sizes, 0, sizeof t->deposit_sizes);
    memset(t->buried, 0, sizeof t->buried);
    memset(t->deposit_tops, 0, sizeof t->deposit_tops);
    memset(t->deposited, 0, sizeof t->deposited);
    t->phase = PLAYING;
    t->turn = t->first_seat;
    t->drawn = 2 * t->stock_size;
    for (int seat = 0; seat < 2; seat++) {
        t->stock_sizes[seat] = t->stock_size;
        t->hand_sizes[seat] = 0;
        open_stock(t, seat);
    }
    for (int seat = 0; seat < 2; seat++) draw(t, seat);
    settle(t, mask);
}

// A game can end before anybody could decide; then another one is dealt.
static void deal_random(Table *t, bool *mask) {
    do {
        t->first_seat = random_below(&t->rng, 2);
        shuffle(t);
        deal(t, mask);
    } while (t->phase == OVER);
}

static void write_outcome(const Table *t, int reward, float *rewards, int16_t *scores, int32_t *ranks) {
    int best = t->stock_sizes[0] < t->stock_sizes[1] ? t->stock_sizes[0] : t->stock_sizes[1], winners = 0;
    for (int seat = 0; seat < 2; seat++) {
        scores[seat] = ranks[seat] = -t->stock_sizes[seat];
        winners += t->stock_sizes[seat] == best;
    }
    for (int seat = 0; seat < 2; seat++) {
        rewards[seat] = reward == SCORE ? scores[seat] : (ranks[seat] == -best ? 1.0 / winners : 0.0) - 1.0 / 2;
    }
}

// What the seat to act sees; seats are counted from it.
static void write_observation(const Table *t, Observation *out) {
    int seats[2] = {t->turn, 1 - t->turn};
    memset(out, 0, sizeof *out);
    memcpy(out->hand, t->hand[t->turn], KINDS);
    memcpy(out->heights, t->heights, STACKS);
    for (int stack = 0; stack < STACKS; stack++) out->wanted[stack][t->heights[stack]] = 1;
    for (int i = 0; i < 2; i++) {
        int seat = seats[i];
        if (t->stock_tops[seat] >= 0) out->stock_tops[i][t->stock_tops[seat]] = 1;
        out->stock_sizes[i] = t->stock_sizes[seat];
        memcpy(out->deposit_sizes[i], t->deposit_sizes[seat], sizeof out->deposit_sizes[i]);
        memcpy(out->deposit_tops[i], t->deposit_tops[seat], sizeof out->deposit_tops[i]);
        memcpy(out->buried[i], t->buried[seat], sizeof out->buried[i]);
        out->hand_sizes[i] = t->hand_sizes[seat];
        out->turn[i] = seat == t->turn;
        out->second[i] = seat != t->first_seat;
    }
    for (int kind = 0; kind < KINDS; kind++) out->unseen[kind] = t->hidden[kind] + t->hand[seats[1]][kind];
    out->talon = CARDS - t->drawn < 127 ? CARDS - t->drawn : 127;
    out->over = t->phase == OVER;
}

// Play actions[k] at table where[k]. Returns the first k whose action is illegal, with nothing changed, or -1.
int64_t step(Table *records, const int64_t *where, const int64_t *actions, int64_t count, int64_t num_actions, int reward,
             Observation *observations, bool *masks, int8_t *turn, float (*rewards)[2], bool *terminated, int16_t (*scores)[2],
             int32_t (*ranks)[2], Table *final_records) {
    for (int64_t k = 0; k < count; k++) {
        const Table *t = &records[where[k]];
        bool legal = actions[k] >= 0 && actions[k] < num_actions && masks[where[k] * num_actions + actions[k]];
        if (!legal && t->phase != OVER) return k;
    }
    for (int64_t k = 0; k < count; k++) {
        int64_t i = where[k];
        Table *t = &records[i];
        bool *mask = &masks[i * num_actions];
        // The engine does so too: a record is long, and the processor does not foresee which parts of it are needed next.
        const char *ahead = (const char *)&records[where[k + 8 < count ? k + 8 : count - 1]];
        for (size_t byte = 0; byte < sizeof(Table); byte += 64) __builtin_prefetch(ahead + byte, 1);
        if (terminated[i]) {
            terminated[i] = false;
            memset(rewards[i], 0, sizeof rewards[i]);
            memset(scores[i], 0, sizeof scores[i]);
        }
        if (t->phase != OVER) {
            move(t, actions[k]);
            settle(t, mask);
            if (t->phase == OVER) {
                terminated[i] = true;
                write_outcome(t, reward, rewards[i], scores[i], ranks[i]);
                final_records[i] = *t;
            }
        }
        if (t->phase == OVER) deal_random(t, mask);
#ifndef WITHOUT_OBSERVATIONS
        write_observation(t, &observations[i]);
#endif
        turn[i] = t->turn;
    }
    return -1;
}
