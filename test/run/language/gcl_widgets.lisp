;;; gcl_widgets.lisp: the producer and consumer of mprof's paper, for GCL.
;;;
;;; A widget is a structure with a list of three conses, a float and a new symbol. Red widgets are
;;; kept in a list; blue widgets are used once and dropped.
(defstruct widget color parts weight name)

(defvar *red* nil)
(defvar *blue* 0)
(defvar *big* 0)
(defvar *limit* (floor (expt 2 61) 1103515245)) ; Larger products are not immediate.
(proclaim '(notinline make-parts weigh make-one make-red-widget make-blue-widget consume
                       f g recur))

(defun make-parts (n) (list n (1+ n) (+ n 2)))
(defun weigh (n) (* 1.5d0 (1+ n)))
(defun make-one (color n)
  (make-widget :color color :parts (make-parts n) :weight (weigh n) :name (make-symbol "W")))
(defun make-red-widget (n) (make-one 'red n))
(defun make-blue-widget (n) (make-one 'blue n))
(defun consume (w) (incf *blue*) (length (widget-parts w)))

(defun produce (count)
  (let ((seed 1))
    (dotimes (i count)
      (if (> seed *limit*) (incf *big*))
      (setf seed (mod (+ (* seed 1103515245) 12345) 2147483648))
      (let ((w (if (= 0 (mod (ash seed -16) 2)) (make-red-widget i) (make-blue-widget i))))
        (if (eq (widget-color w) 'red) (push w *red*) (consume w))))))

;;; The paper's figure 7.
(defun g (n) (prog1 (if (> n 0) (f (1- n)) (cons 'g n)) (incf *blue* 0)))
(defun f (n) (prog1 (g n) (incf *blue* 0)))
(defun recur () (prog1 (f 1) (incf *blue* 0)))
